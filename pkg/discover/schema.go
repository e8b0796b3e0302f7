package discover

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// withoutReserved returns the schema without the reserved argument, which no schema that anybody sees mentions; most do
// not have it and are kept byte for byte.
func withoutReserved(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(tool.ReservedArg)) {
		return raw
	}
	var schema map[string]any
	if json.Unmarshal(raw, &schema) != nil {
		return raw
	}
	strip(schema)
	stripped, err := json.Marshal(schema)
	if err != nil {
		return raw
	}
	return stripped
}

// strip takes the reserved argument out of a schema and those in it, such as under allOf or $defs.
func strip(schema any) {
	switch s := schema.(type) {
	case []any:
		for _, e := range s {
			strip(e)
		}
	case map[string]any:
		if properties, ok := s["properties"].(map[string]any); ok {
			delete(properties, tool.ReservedArg)
		}
		if required, ok := s["required"].([]any); ok {
			s["required"] = slices.DeleteFunc(required, func(name any) bool { return name == tool.ReservedArg })
		}
		for _, e := range s {
			strip(e)
		}
	}
}

// ArgProblem is one way in which arguments do not fit a tool's input schema.
type ArgProblem struct {
	Message string
	Hint    string
}

// CheckArgs holds arguments against the tool's input schema and reports everything that does not fit. Properties for
// which open says true have a value that is not known yet and are only checked by name. A schema that cannot be used
// (another draft, a remote reference) checks nothing: the server itself will say.
func (t *Tool) CheckArgs(args map[string]any, unresolved func(property string) bool) []ArgProblem {
	t.compile.Do(func() { t.checker = newChecker(t.InputSchema) })
	c := t.checker
	if c == nil {
		return nil
	}
	values, err := plain(args)
	if err != nil {
		return []ArgProblem{{Message: err.Error()}}
	}
	var misfit error
	if !slices.ContainsFunc(slices.Collect(maps.Keys(values)), unresolved) {
		if misfit = c.whole.Validate(values); misfit == nil {
			return nil // the usual case, and all of it: what follows finds words for what is wrong
		}
	}
	usage := t.outlined().usage()
	problems := slices.Concat(c.unknown(values), c.missing(values, usage), c.values(values, unresolved, usage))
	if len(problems) == 0 && misfit != nil {
		problems = append(problems, ArgProblem{Message: lastPart(misfit), Hint: usage})
	}
	return problems
}

// Usage lists the arguments that the tool takes, required ones first, as "name (type), other (type) optional"; empty
// when it takes none or does not say.
func (t *Tool) Usage() string {
	return t.outlined().arguments()
}

// AcceptsText reports whether the schema says that an argument may be text.
func (t *Tool) AcceptsText(name string) bool {
	p := t.outlined().Properties[name]
	isText := func(value any) bool { _, ok := value.(string); return ok }
	return slices.Contains(p.types(), "string") || slices.ContainsFunc(p.Enum, isText)
}

// MaskedArgs returns the arguments as people and logs may see them: what the schema calls writeOnly is hidden.
func (t *Tool) MaskedArgs(args map[string]any) map[string]any {
	if !bytes.Contains(t.InputSchema, []byte(`"writeOnly"`)) {
		return args
	}
	shown := maps.Clone(args)
	for name := range shown {
		if t.outlined().Properties[name].WriteOnly {
			shown[name] = "{{hidden}}"
		}
	}
	return shown
}

// outline is what people are told of an input schema. Reading it is a small part of the work of making a checker.
type outline struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

type property struct {
	Type      any   `json:"type"` // a text, or a list of them
	Enum      []any `json:"enum"`
	WriteOnly bool  `json:"writeOnly"`
}

// UnmarshalJSON takes a schema that is no object, which says nothing, for an empty one.
func (p *property) UnmarshalJSON(data []byte) error {
	type plain property
	_ = json.Unmarshal(data, (*plain)(p))
	return nil
}

// outlined is empty for a schema that cannot be read.
func (t *Tool) outlined() *outline {
	t.outline.Do(func() {
		if json.Unmarshal(t.InputSchema, &t.outlineOf) != nil {
			t.outlineOf = outline{}
		}
	})
	return &t.outlineOf
}

// types are the kinds of value that the schema allows, none for any.
func (p property) types() []string {
	switch kind := p.Type.(type) {
	case string:
		return []string{kind}
	case []any:
		var kinds []string
		for _, k := range kind {
			kinds = append(kinds, fmt.Sprint(k))
		}
		return kinds
	}
	return nil
}

func (p property) String() string {
	kinds := p.types()
	if len(kinds) == 0 && len(p.Enum) > 0 {
		return fmt.Sprintf("one of %v", p.Enum)
	}
	return strings.Join(kinds, " or ")
}

// checker is an input schema in two forms: whole, and without everything that looks at several properties together, so
// that each property can be judged alone.
type checker struct {
	schema *jsonschema.Schema
	whole  *jsonschema.Resolved
	single func() *jsonschema.Resolved // most tools never need it
}

// newChecker returns nil for a schema that cannot be used.
func newChecker(raw json.RawMessage) *checker {
	whole, ok := resolve(raw, func(*jsonschema.Schema) {})
	if !ok {
		return nil
	}
	single := sync.OnceValue(func() *jsonschema.Resolved {
		single, _ := resolve(raw, func(s *jsonschema.Schema) { // what resolved as a whole does so in part
			s.Required, s.AdditionalProperties, s.PropertyNames, s.MinProperties = nil, nil, nil, nil
			s.AllOf, s.AnyOf, s.OneOf, s.Not, s.If, s.Then, s.Else = nil, nil, nil, nil, nil, nil, nil
			s.DependentRequired, s.DependentSchemas, s.UnevaluatedProperties = nil, nil, nil
		})
		return single
	})
	return &checker{whole.Schema(), whole, single}
}

func resolve(raw json.RawMessage, edit func(*jsonschema.Schema)) (*jsonschema.Resolved, bool) {
	var s jsonschema.Schema
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return nil, false
	}
	edit(&s)
	resolved, err := s.Resolve(nil)
	return resolved, err == nil
}

// unknown reports the arguments that a closed schema does not have.
func (c *checker) unknown(values map[string]any) []ArgProblem {
	if !forbidsOthers(c.schema) || len(c.schema.PatternProperties) > 0 {
		return nil
	}
	var out []ArgProblem
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := c.schema.Properties[name]; !ok {
			hint := fault.DidYouMean(name, slices.Sorted(maps.Keys(c.schema.Properties)))
			out = append(out, ArgProblem{fmt.Sprintf("unknown argument %q", name), hint})
		}
	}
	return out
}

// forbidsOthers reports whether additionalProperties is false.
func forbidsOthers(s *jsonschema.Schema) bool {
	if s.AdditionalProperties == nil {
		return false
	}
	text, err := json.Marshal(s.AdditionalProperties)
	return err == nil && string(text) == "false"
}

func (c *checker) missing(values map[string]any, usage string) []ArgProblem {
	var out []ArgProblem
	for _, name := range c.schema.Required {
		if _, ok := values[name]; !ok {
			out = append(out, ArgProblem{fmt.Sprintf("missing argument %q", name), usage})
		}
	}
	return out
}

func (c *checker) values(values map[string]any, open func(string) bool, usage string) []ArgProblem {
	var out []ArgProblem
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if open(name) {
			continue
		}
		if err := c.single().Validate(map[string]any{name: values[name]}); err != nil {
			out = append(out, ArgProblem{fmt.Sprintf("argument %q: %s", name, lastPart(err)), usage})
		}
	}
	return out
}

func (o *outline) usage() string {
	if arguments := o.arguments(); arguments != "" {
		return "it takes " + arguments
	}
	return "it takes no arguments"
}

func (o *outline) arguments() string {
	var required, optional []string
	for _, name := range slices.Sorted(maps.Keys(o.Properties)) {
		text := name
		if kind := o.Properties[name].String(); kind != "" {
			text += " (" + kind + ")"
		}
		if slices.Contains(o.Required, name) {
			required = append(required, text)
		} else {
			optional = append(optional, text+" optional")
		}
	}
	return strings.Join(slices.Concat(required, optional), ", ")
}

// lastPart keeps the last and most specific part of the validator's nested messages.
func lastPart(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, "validating "); i >= 0 {
		if _, rest, ok := strings.Cut(text[i:], ": "); ok {
			return rest
		}
	}
	return text
}

// plain is the value as a server will read it from JSON.
func plain(args map[string]any) (map[string]any, error) {
	if values, ok := decoded(args); ok {
		return values.(map[string]any), nil //nolint:errcheck // a map stays one
	}
	data, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("arguments cannot be written as JSON: %w", err)
	}
	values := map[string]any{}
	if err := json.Unmarshal(data, &values); err != nil {
		return nil, fmt.Errorf("arguments cannot be read back from JSON: %w", err)
	}
	return values, nil
}

// decoded is v as it comes back from JSON, told without going there; ok is false for what only that can tell.
func decoded(v any) (out any, ok bool) {
	switch v := v.(type) {
	case nil, bool:
		return v, true
	case string:
		return v, utf8.ValidString(v)
	case int64:
		return float64(v), true
	case json.Number:
		number, err := v.Float64()
		return number, err == nil && json.Valid([]byte(v))
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			if list[i], ok = decoded(e); !ok {
				return nil, false
			}
		}
		return list, v != nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, e := range v {
			if object[key], ok = decoded(e); !ok || !utf8.ValidString(key) {
				return nil, false
			}
		}
		return object, v != nil
	}
	return nil, false
}
