package discover

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// withoutReserved returns the schema without the reserved argument. Schemas that do not have it are returned unchanged.
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

// strip removes the reserved argument from a schema and from the schemas in it, such as those under allOf or $defs.
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

// CheckArgs returns all problems of arguments with the tool's input schema. unresolved reports whether a value contains
// text that is not known yet, which is not checked; nil means that there is none. A schema that cannot be used (another
// draft, a remote reference) has no problems, because the server checks the arguments, too.
func (t *Tool) CheckArgs(args map[string]any, unresolved func(value any) bool) []ArgProblem {
	t.compile.Do(func() { t.checker = newChecker(t.InputSchema) })
	if t.checker == nil {
		return nil
	}
	values, err := plain(withoutAliases(t.Aliases, t.Coerced(args)))
	if err != nil {
		return []ArgProblem{{Message: err.Error()}}
	}
	var invalid error
	if unresolved == nil || !unresolved(values) {
		if invalid = t.checker.resolved.Validate(values); invalid == nil {
			return t.checkMore(values)
		}
	}
	problems := t.checker.check(values, unresolved)
	if len(problems) == 0 && invalid != nil {
		problems = append(problems, ArgProblem{Message: "the arguments do not match the input schema: " + lastPart(invalid)})
	}
	for i, p := range problems {
		if p.Hint == "" && len(p.Path) < 2 {
			problems[i].Hint = t.inputOutline().usage()
		}
		t.restoreAlias(args, p.Path)
	}
	return problems
}

// checkMore returns the problems of arguments that the schema allows.
func (t *Tool) checkMore(values map[string]any) []ArgProblem {
	if t.Check == nil {
		return nil
	}
	var problems []ArgProblem
	for _, err := range fault.Split(t.Check(values)) {
		problem := ArgProblem{Message: err.Error()}
		if known := fault.As(err); known != nil {
			problem.Message, problem.Hint = known.Message, known.Hint
		}
		problems = append(problems, problem)
	}
	return problems
}

// MisspeltArgs returns a problem for each argument that the input schema allows without listing it, and whose name is
// nearly that of a listed argument that is not given.
func (t *Tool) MisspeltArgs(args map[string]any) []ArgProblem {
	o := t.inputOutline()
	if string(o.Additional) == "false" {
		return nil // CheckArgs returns them
	}
	var absent []string
	for name := range o.Properties {
		if _, given := args[name]; !given {
			absent = append(absent, name)
		}
	}
	slices.Sort(absent)
	var problems []ArgProblem
	for _, name := range slices.Sorted(maps.Keys(withoutAliases(t.Aliases, args))) {
		if _, listed := o.Properties[name]; listed || o.matchesPattern(name) {
			continue
		}
		if near := fault.Nearest(name, absent); len(near) > 0 {
			problems = append(problems, ArgProblem{
				Path:    []string{name},
				Message: fmt.Sprintf("%s has no argument %q; %s", t.Name, name, fault.DidYouMean(name, near)),
			})
		}
	}
	return problems
}

// restoreAlias changes the path of a problem to the name under which args have the argument.
func (t *Tool) restoreAlias(args map[string]any, path []string) {
	for alias, name := range t.Aliases {
		if _, given := args[name]; !given && len(path) > 0 && path[0] == name && args[alias] != nil {
			path[0] = alias
		}
	}
}

// Usage returns the arguments that the tool takes, required ones first, as "name (type), other (type) optional". It is
// empty when the schema has none.
func (t *Tool) Usage() string {
	return t.inputOutline().arguments()
}

// Argument describes an argument that a tool takes.
type Argument struct {
	Name, Kind, Description string
	Required                bool
}

// Arguments returns the arguments that the tool takes, required ones first.
func (t *Tool) Arguments() []Argument {
	var required, optional []Argument
	o := t.inputOutline()
	for _, name := range slices.Sorted(maps.Keys(o.Properties)) {
		p := o.Properties[name]
		a := Argument{name, p.String(), p.Description, slices.Contains(o.Required, name)}
		if len(p.Properties) > 0 {
			a.Kind += " as JSON, with " + strings.Join(slices.Sorted(maps.Keys(p.Properties)), ", ")
		}
		if len(p.Default) > 0 {
			a.Description = strings.TrimSpace(strings.TrimSuffix(a.Description, ".") + " (default " + string(p.Default) + ")")
		}
		if a.Required {
			required = append(required, a)
		} else {
			optional = append(optional, a)
		}
	}
	return append(required, optional...)
}

// Accepts reports whether the schema allows a text and a list for an argument.
func (t *Tool) Accepts(name string) (text, list bool) {
	p := t.inputOutline().Properties[name]
	isText := func(value any) bool { _, ok := value.(string); return ok }
	return slices.Contains(p.types(), "string") || slices.ContainsFunc(p.Enum, isText), slices.Contains(p.types(), "array")
}

// MaskedArgs returns the arguments as people and logs may see them: those that the schema marks as writeOnly are
// masked.
func (t *Tool) MaskedArgs(args map[string]any) map[string]any {
	if !bytes.Contains(t.InputSchema, []byte(`"writeOnly"`)) {
		return args
	}
	root := t.rootSchema()
	shown, _ := root.masked([]map[string]any{root}, args, 0).(map[string]any)
	return shown
}

// masked returns a value of some schemas without what they mark as writeOnly.
func (r rootSchema) masked(schemas []map[string]any, value any, depth int) any {
	parts := r.parts(schemas...)
	if depth > maxCoercedDepth || slices.ContainsFunc(parts, func(p map[string]any) bool { return p["writeOnly"] == true }) {
		return "{{hidden}}"
	}
	switch v := value.(type) {
	case map[string]any:
		shown := maps.Clone(v)
		for name, field := range v {
			shown[name] = r.masked(fieldOf(parts, name), field, depth+1)
		}
		return shown
	case []any:
		shown := slices.Clone(v)
		for i := range v {
			shown[i] = r.masked(itemOf(parts, i), v[i], depth+1)
		}
		return shown
	}
	return value
}

// outline is the part of an input schema that hints need. Reading it is cheaper than compiling a checker.
type outline struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
	Additional json.RawMessage     `json:"additionalProperties"`
	Patterns   map[string]any      `json:"patternProperties"`
}

// matchesPattern reports whether a name is one of those that the schema describes by regular expressions.
func (o *outline) matchesPattern(name string) bool {
	for pattern := range o.Patterns {
		if re, err := regexp.Compile(pattern); err != nil || re.MatchString(name) {
			return true
		}
	}
	return false
}

type property struct {
	Type any   `json:"type"` // text, or a list of texts
	Enum []any `json:"enum"`

	Pattern     string              `json:"pattern"`
	Description string              `json:"description"`
	Default     json.RawMessage     `json:"default"`
	Properties  map[string]property `json:"properties"`
}

// UnmarshalJSON reads a schema that is not an object, such as true, as an empty one.
func (p *property) UnmarshalJSON(data []byte) error {
	type plain property
	_ = json.Unmarshal(data, (*plain)(p))
	return nil
}

// inputOutline returns the outline of the input schema, an empty one when it cannot be read.
func (t *Tool) inputOutline() *outline {
	t.outline.Do(func() {
		if json.Unmarshal(t.InputSchema, &t.outlineOf) != nil {
			t.outlineOf = outline{}
		}
	})
	return &t.outlineOf
}

// types returns the types that the schema allows, none for any.
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
	if len(p.Enum) > 0 {
		choices := make([]string, len(p.Enum))
		for i, choice := range p.Enum {
			choices[i] = jsonText(choice)
		}
		return "one of " + strings.Join(choices, ", ")
	}
	if words := wordsPattern().FindStringSubmatch(p.Pattern); words != nil {
		return "one of " + strings.ReplaceAll(words[1], "|", ", ")
	}
	return strings.Join(kinds, " or ")
}

// wordsPattern matches the pattern of an argument that is one of some words, in any case.
var wordsPattern = lazyregexp.New(`^\^\(\?i:([A-Za-z0-9_|-]+)\)\$$`)

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

// plain returns the arguments as a server decodes them from JSON.
func plain(args map[string]any) (map[string]any, error) {
	if values, ok := asDecoded(args); ok {
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

// asDecoded returns v as encoding and decoding it as JSON does, without doing so. ok is false for values of other
// types.
func asDecoded(v any) (out any, ok bool) {
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
			if list[i], ok = asDecoded(e); !ok {
				return nil, false
			}
		}
		return list, v != nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, e := range v {
			if object[key], ok = asDecoded(e); !ok || !utf8.ValidString(key) {
				return nil, false
			}
		}
		return object, v != nil
	}
	return nil, false
}
