package screen

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// maxNesting is how deep relations may be nested.
const maxNesting = 10

// Selector selects elements. All its conditions have to hold; a nil field is not a condition.
type Selector struct {
	Block *Block

	Below, Above, LeftOf, RightOf *Selector
	ChildOf, ContainsChild        *Selector
	ContainsDescendants           []*Selector

	Index *int // which of the elements that match, from 0
}

// Block is a driver block: conditions on the properties of an element.
type Block struct {
	Dialect    Dialect
	conditions []condition // in the order of propertiesOf
}

// condition is one key of a block with its value, of which the field that belongs to the kind of the key is set.
type condition struct {
	property
	raw     any // string, bool or int, as it is written back
	pattern *Pattern
	value   string
	on      bool
	number  int
}

// Text returns the value of a key that is a text or a pattern, as it was written; "" when the block has no such key.
func (b *Block) Text(key string) string {
	text, _ := b.raw(key).(string)
	return text
}

// Number returns the value of a key that is a number.
func (b *Block) Number(key string) (int, bool) {
	number, ok := b.raw(key).(int)
	return number, ok
}

// Pattern returns the pattern of a key, nil when the block has no such key.
func (b *Block) Pattern(key string) *Pattern {
	if c := b.condition(key); c != nil {
		return c.pattern
	}
	return nil
}

func (b *Block) raw(key string) any {
	if c := b.condition(key); c != nil {
		return c.raw
	}
	return nil
}

func (b *Block) condition(key string) *condition {
	if b == nil {
		return nil
	}
	i := slices.IndexFunc(b.conditions, func(c condition) bool { return c.name == key })
	if i < 0 {
		return nil
	}
	return &b.conditions[i]
}

// Blocks returns the driver blocks of s and of its relations.
func (s *Selector) Blocks() []*Block {
	var out []*Block
	s.walk(func(inner *Selector) {
		if inner.Block != nil {
			out = append(out, inner.Block)
		}
	})
	return out
}

// CellKeys returns the keys of androidAccessibility for rows and columns.
func CellKeys() []string { return []string{"collectionItemRowIndex", "collectionItemColumnIndex"} }

// Names reports whether s or one of its relations has a condition with one of some keys, in any driver block.
func (s *Selector) Names(keys ...string) bool {
	return slices.ContainsFunc(s.Blocks(), func(b *Block) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return b.condition(key) != nil })
	})
}

// walk calls visit with s and with every selector in it.
func (s *Selector) walk(visit func(*Selector)) {
	visit(s)
	for _, r := range s.relations() {
		r.selector.walk(visit)
	}
}

// Empty reports whether s has no condition, so that it matches every element.
func (s *Selector) Empty() bool {
	return (s.Block == nil || len(s.Block.conditions) == 0) && s.Index == nil && len(s.relations()) == 0
}

// IsIndexed reports whether s takes one of several elements by its number.
func (s *Selector) IsIndexed() bool {
	return s.Index != nil || s.Block != nil && s.Block.condition("nthIndex") != nil
}

// HasRelations reports whether s has a relation to other elements.
func (s *Selector) HasRelations() bool { return len(s.relations()) > 0 }

// Related returns the selectors in the relations of s.
func (s *Selector) Related() []*Selector {
	var out []*Selector
	for _, r := range s.relations() {
		out = append(out, r.selector)
	}
	return out
}

// relation is a selector in another one.
type relation struct {
	name     string
	selector *Selector
}

// relations returns the relations that are set.
func (s *Selector) relations() []relation {
	var out []relation
	for _, r := range []relation{
		{"below", s.Below},
		{"above", s.Above},
		{"leftOf", s.LeftOf},
		{"rightOf", s.RightOf},
		{"childOf", s.ChildOf},
		{"containsChild", s.ContainsChild},
	} {
		if r.selector != nil {
			out = append(out, r)
		}
	}
	for _, inner := range s.ContainsDescendants {
		out = append(out, relation{"containsDescendants", inner})
	}
	return out
}

// field returns where the relation of a name belongs, nil for another name.
func (s *Selector) field(name string) **Selector {
	switch name {
	case "below":
		return &s.Below
	case "above":
		return &s.Above
	case "leftOf":
		return &s.LeftOf
	case "rightOf":
		return &s.RightOf
	case "childOf":
		return &s.ChildOf
	case "containsChild":
		return &s.ContainsChild
	}
	return nil
}

// Map returns s as decoded YAML or JSON, from which ParseSelector makes the same selector.
func (s *Selector) Map() map[string]any {
	out := map[string]any{}
	if s.Block != nil {
		block := map[string]any{}
		for _, c := range s.Block.conditions {
			block[c.name] = c.raw
		}
		out[string(s.Block.Dialect)] = block
	}
	for _, r := range s.relations() {
		if r.name == "containsDescendants" {
			list, _ := out[r.name].([]any)
			out[r.name] = append(list, r.selector.Map())
			continue
		}
		out[r.name] = r.selector.Map()
	}
	if s.Index != nil {
		out["index"] = *s.Index
	}
	return out
}

// Target is the app that patterns mean with {{target.appId}}.
type Target struct {
	AppID  string   // empty when unknown
	AppIDs []string // the app ids of the target, one of which is the app's
}

var appIDToken = lazyregexp.New(`\{\{\s*target\.appId\s*\}\}`)

// expand replaces {{target.appId}} in a pattern. It stays where the target has no app id.
func (t Target) expand(pattern string) string {
	ids := t.AppIDs
	if t.AppID != "" {
		ids = []string{t.AppID}
	}
	if len(ids) == 0 {
		return pattern
	}
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = regexp.QuoteMeta(id)
	}
	expression := quoted[0]
	if t.AppID == "" {
		expression = "(?:" + strings.Join(quoted, "|") + ")"
	}
	return appIDToken().ReplaceAllLiteralString(pattern, expression)
}

// integer returns a decoded number that is a whole one.
func integer(value any) (int, bool) {
	switch v := value.(type) {
	case int:
		return v, true
	case int64:
		return int(v), true
	case uint64:
		return int(v), v <= math.MaxInt
	case float64:
		return int(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
	case json.Number:
		f, err := v.Float64()
		return int(f), err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53
	}
	return 0, false
}
