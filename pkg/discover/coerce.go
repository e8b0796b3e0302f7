package discover

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// Coerced returns arguments with the types that the input schema names, if the tool asks for that: a number or a
// boolean as text where it wants text, and text that is a number or a boolean as such where it wants one. What is not
// the canonical form of a number, such as 0130, stays text. args are not changed.
func (t *Tool) Coerced(args map[string]any) map[string]any {
	if !t.Coerces || len(args) == 0 {
		return args
	}
	return t.coerced(args, args, func(any) bool { return true })
}

// Fitted returns arguments whose tokens were replaced, in which each number, boolean and text that replaced a token has
// the type that the input schema names, as of Coerced. written are the arguments with the tokens. args are not changed.
func (t *Tool) Fitted(written, args map[string]any, hasToken func(written any) bool) map[string]any {
	if !hasToken(written) {
		return args
	}
	return t.coerced(written, args, hasToken)
}

func (t *Tool) coerced(written, args map[string]any, takes func(written any) bool) map[string]any {
	root := t.rootSchema()
	coerced, _ := coercion{root, takes}.value([]map[string]any{root}, written, args, 0).(map[string]any)
	return coerced
}

// rootSchema returns the input schema as JSON, nil for one that cannot be read.
func (t *Tool) rootSchema() rootSchema {
	t.parsed.Do(func() { _ = json.Unmarshal(t.InputSchema, &t.schema) })
	return t.schema
}

// coercion coerces those arguments to a schema that it takes as they were written.
type coercion struct {
	root  rootSchema
	takes func(written any) bool
}

// maxCoercedDepth is the depth of values from which on they are left as they are, or hidden.
const maxCoercedDepth = 100

func (c coercion) value(schemas []map[string]any, written, value any, depth int) any {
	if depth > maxCoercedDepth {
		return value
	}
	parts := c.root.parts(schemas...)
	switch v := value.(type) {
	case map[string]any:
		fields, _ := written.(map[string]any)
		out := maps.Clone(v)
		for name, field := range v {
			out[name] = c.value(fieldOf(parts, name), fields[name], field, depth+1)
		}
		return out
	case []any:
		items, _ := written.([]any)
		out := slices.Clone(v)
		for i := range min(len(items), len(v)) {
			out[i] = c.value(itemOf(parts, i), items[i], v[i], depth+1)
		}
		return out
	}
	if !c.takes(written) {
		return value
	}
	var types []string
	for _, p := range parts {
		types = append(types, typesOf(p)...)
	}
	return scalar(types, value)
}

// typesOf returns the types that a schema names.
func typesOf(schema map[string]any) []string {
	switch t := schema["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var names []string
		for _, name := range t {
			text, _ := name.(string)
			names = append(names, text)
		}
		return names
	}
	return nil
}

var (
	canonicalNumber  = lazyregexp.New(`^-?(0|[1-9][0-9]{0,14})(\.[0-9]{0,14}[1-9])?$`)
	canonicalInteger = lazyregexp.New(`^-?(0|[1-9][0-9]{0,14})$`)
)

// scalar coerces a value that is neither an object nor a list to one of some types, unless it has one of them.
func scalar(types []string, value any) any {
	text, isText := value.(string)
	_, isBool := value.(bool)
	wants := func(name string) bool { return slices.Contains(types, name) }
	number := wants("number") && canonicalNumber().MatchString(text) || wants("integer") && canonicalInteger().MatchString(text)
	switch {
	case value == nil, isText && wants("string"), isBool && wants("boolean"):
		return value
	case isText && number:
		n, _ := strconv.ParseFloat(text, 64) // exact, as so few digits are
		return n
	case isText && wants("boolean") && (text == "true" || text == "false"):
		return text == "true"
	case isText, !wants("string"), !isBool && (wants("number") || wants("integer")):
		return value
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return value
	}
	return string(raw)
}
