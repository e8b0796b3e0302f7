package screen

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// ParseOptions are the path of a selector, for messages, and the values that its patterns may refer to.
type ParseOptions struct {
	Path   string // of the selector, for messages; "nodeSelector" when empty
	Target Target
}

func (o ParseOptions) parser() *parser {
	p := &parser{path: o.Path, target: o.Target}
	if p.path == "" {
		p.path = "nodeSelector"
	}
	return p
}

// ParseSelector returns a selector from decoded YAML or JSON. It rejects unknown keys, two driver blocks, values of a
// wrong type, patterns that are not regular expressions, and relations more than ten deep. The error is a *fault.Error
// of the kind invalid arguments whose message begins with the path of what is wrong, or several of them joined.
func ParseSelector(value any, o ParseOptions) (*Selector, error) {
	p := o.parser()
	s := p.selector(p.path, value, 0)
	return s, errors.Join(p.problems...)
}

// parser collects what is wrong with a selector.
type parser struct {
	path     string
	target   Target
	problems []error
}

func (p *parser) fail(path, hint, format string, args ...any) {
	message := path + ": " + fmt.Sprintf(format, args...)
	p.problems = append(p.problems, fault.New(fault.InvalidArguments, hint, "%s", message))
}

// object returns a decoded object.
func (p *parser) object(path string, value any) (map[string]any, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		p.fail(path, "", "expected an object, found %s", typeName(value))
	}
	return object, ok
}

func (p *parser) selector(path string, value any, depth int) *Selector {
	s := &Selector{}
	object, ok := p.object(path, value)
	if !ok {
		return s
	}
	if depth > maxNesting {
		p.fail(path, "", "relations stand in one another more than %d deep", maxNesting)
		return s
	}
	p.blocks(s, path, object)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		inner := path + "." + key
		field := s.field(key)
		switch {
		case field != nil:
			*field = p.selector(inner, object[key], depth+1)
		case key == "containsDescendants":
			s.ContainsDescendants = p.selectors(inner, object[key], depth+1)
		case key == "index":
			s.Index = p.index(inner, object[key])
		case !isDialect(key):
			p.fail(inner, unknownKeyHint(key), "unknown key")
		}
	}
	return s
}

// blocks reads the driver block.
func (p *parser) blocks(s *Selector, path string, object map[string]any) {
	var given []string
	for _, d := range Dialects() {
		value, ok := object[string(d)]
		if !ok {
			continue
		}
		given = append(given, string(d))
		block := p.block(path+"."+string(d), d, value)
		if s.Block == nil {
			s.Block = block
		}
	}
	if len(given) > 1 {
		const hint = "a selector has at most one driver block"
		p.fail(path, hint, "has %d driver blocks: %s", len(given), strings.Join(given, ", "))
	}
}

func (p *parser) selectors(path string, value any, depth int) []*Selector {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		p.fail(path, "", "expected a list of selectors, found %s", typeName(value))
		return nil
	}
	out := make([]*Selector, len(list))
	for i, item := range list {
		out[i] = p.selector(path+"["+strconv.Itoa(i)+"]", item, depth)
	}
	return out
}

func (p *parser) index(path string, value any) *int {
	index, ok := integer(value)
	if !ok || index < 0 {
		p.fail(path, "", "expected a whole number from 0, found %s", displayValue(value))
		return nil
	}
	return &index
}

func (p *parser) block(path string, d Dialect, value any) *Block {
	b := &Block{Dialect: d}
	object, ok := p.object(path, value)
	if !ok {
		return b
	}
	properties := propertiesOf(d)
	for _, prop := range properties {
		given, ok := object[prop.name]
		if !ok || d == Web && given == "" { // in a web block an empty text means that the key is absent
			continue
		}
		if c, ok := p.condition(path+"."+prop.name, d, prop, given); ok {
			b.conditions = append(b.conditions, c)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.ContainsFunc(properties, func(prop property) bool { return prop.name == key }) {
			p.fail(path+"."+key, unknownPropertyHint(d, key), "unknown key")
		}
	}
	return b
}

func (p *parser) condition(path string, d Dialect, prop property, value any) (condition, bool) {
	c := condition{property: prop, raw: value}
	var ok bool
	switch prop.kind {
	case flagKey:
		if c.on, ok = value.(bool); !ok {
			p.fail(path, "", "expected true or false, found %s", displayValue(value))
		}
		return c, ok
	case numberKey:
		if c.number, ok = integer(value); !ok || c.number < 0 {
			p.fail(path, "", "expected a whole number from 0, found %s", displayValue(value))
		}
		c.raw = c.number
		return c, ok && c.number >= 0
	case patternKey, textKey, memberKey:
	}
	if c.value, ok = value.(string); !ok {
		hint := ""
		if _, number := integer(value); number {
			hint = "write it in quotes"
		}
		p.fail(path, hint, "expected a text, found %s", displayValue(value))
		return c, false
	}
	if prop.name == "ariaRole" {
		return c, p.role(path, &c)
	}
	if prop.kind == patternKey {
		c.pattern, ok = p.pattern(path, d, c.value)
	}
	return c, ok
}

// role checks ariaRole, which may be in any case.
func (p *parser) role(path string, c *condition) bool {
	c.value = strings.ToLower(strings.TrimSpace(c.value))
	if !IsRole(c.value) {
		p.fail(path, fault.DidYouMean(c.value, Roles()), "%q is not an ARIA role", c.value)
		return false
	}
	return true
}

func (p *parser) pattern(path string, d Dialect, raw string) (*Pattern, bool) {
	compiled, err := CompilePattern(p.target.expand(raw), d.Rules())
	hint := `to match a text as it is, write \Qtext\E`
	if err == nil {
		err = compiled.Malformed()
	}
	if err != nil {
		p.fail(path, hint, "%q: %v", raw, err)
		return nil, false
	}
	return compiled, true
}

func isDialect(key string) bool { return slices.Contains(Dialects(), Dialect(key)) }

// selectorKeys returns the keys of a selector beside the driver blocks.
func selectorKeys() []string {
	return []string{
		"below", "above", "leftOf", "rightOf", "childOf", "containsChild", "containsDescendants", "index",
	}
}

func unknownKeyHint(key string) string {
	known := selectorKeys()
	var owners []string
	for _, d := range Dialects() {
		known = append(known, string(d))
		if slices.ContainsFunc(propertiesOf(d), func(prop property) bool { return prop.name == key }) {
			owners = append(owners, string(d))
		}
	}
	if len(owners) > 0 {
		return fmt.Sprintf("%s stands in a driver block: %s", key, strings.Join(owners, ", "))
	}
	return fault.DidYouMean(key, known)
}

func unknownPropertyHint(d Dialect, key string) string {
	if slices.Contains(selectorKeys(), key) {
		return fmt.Sprintf("%s stands beside %s, not in it", key, d)
	}
	var known []string
	for _, prop := range propertiesOf(d) {
		known = append(known, prop.name)
	}
	return fault.DidYouMean(key, known)
}

// typeName describes the type of a decoded value.
func typeName(value any) string {
	switch value := value.(type) {
	case nil:
		return "nothing"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case []any:
		if len(value) == 0 {
			return "an empty list"
		}
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// displayValue returns a short value itself, and a description of other values.
func displayValue(value any) string {
	switch value := value.(type) {
	case nil, []any, map[string]any:
		return typeName(value)
	case string:
		return quote(value)
	}
	return fmt.Sprint(value)
}
