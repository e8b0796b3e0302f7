package discover

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

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
	t.parsed.Do(func() { _ = json.Unmarshal(t.InputSchema, &t.schema) }) // nil coerces nothing
	coerced, _ := coercion{t.schema, takes}.value(t.schema, written, args, 0).(map[string]any)
	return coerced
}

// coercion coerces those arguments to a schema that it takes as they were written. References in the schema are
// resolved from its root.
type coercion struct {
	root  map[string]any
	takes func(written any) bool
}

// maxCoercedDepth is the depth of values and references from which on they are left as they are.
const maxCoercedDepth = 100

func (c coercion) value(schema map[string]any, written, value any, depth int) any {
	if depth > maxCoercedDepth {
		return value
	}
	if ref, ok := schema["$ref"].(string); ok {
		return c.value(c.resolve(ref), written, value, depth+1)
	}
	switch v := value.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		fields, _ := written.(map[string]any)
		out := maps.Clone(v)
		for name, field := range v {
			of, known := properties[name].(map[string]any)
			if !known {
				of, _ = schema["additionalProperties"].(map[string]any)
			}
			out[name] = c.value(of, fields[name], field, depth+1)
		}
		return out
	case []any:
		of, _ := schema["items"].(map[string]any)
		items, _ := written.([]any)
		out := slices.Clone(v)
		for i := range min(len(items), len(v)) {
			out[i] = c.value(of, items[i], v[i], depth+1)
		}
		return out
	}
	if !c.takes(written) {
		return value
	}
	return scalar(typesOf(schema), value)
}

// resolve returns the schema that a reference within the root names, nil for any other.
func (c coercion) resolve(ref string) map[string]any {
	at := c.root
	path, _ := strings.CutPrefix(ref, "#")
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		at, _ = at[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)].(map[string]any)
	}
	return at
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
