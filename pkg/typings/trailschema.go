package typings

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// callKeys are the keys of a recorded call beside its tool.
func callKeys() []string { return []string{"saveAs", "timeout", "optional", "soft"} }

// TrailSchema returns the JSON Schema of trails, with the tools in place of any tool.
func TrailSchema(base []byte, tools []Tool) ([]byte, error) {
	var schema map[string]any
	if err := json.Unmarshal(base, &schema); err != nil {
		return nil, fmt.Errorf("read the schema of trails: %w", err)
	}
	definitions, ok := schema["$defs"].(map[string]any)
	call, hasCall := definitions["call"].(map[string]any)
	properties, hasProperties := call["properties"].(map[string]any)
	if !ok || !hasCall || !hasProperties {
		return nil, fmt.Errorf("the schema of trails has no $defs.call.properties")
	}
	for _, e := range entries(tools) {
		if slices.Contains(callKeys(), e.name) {
			continue // a trail cannot call it
		}
		definitions[toolKey(e.name)] = e.callSchema()
		properties[e.name] = map[string]any{"$ref": "#/$defs/" + escapePointer(toolKey(e.name))}
	}
	definitions["token"] = map[string]any{"type": "string", "pattern": `\{\{|\$\{`}
	call["additionalProperties"] = false
	call["description"] = "A tool of the project with its arguments, and at most saveAs, timeout, and optional or soft."
	data, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the schema of trails: %w", err)
	}
	return append(data, '\n'), nil
}

// callSchema returns the schema of the recorded arguments of a tool.
func (e entry) callSchema() map[string]any {
	var forms []any
	schema := map[string]any{}
	for i, f := range e.forms {
		t := recorded{prefix: "#/$defs/" + escapePointer(toolKey(e.name))}
		if len(e.forms) > 1 {
			t.prefix += fmt.Sprintf("/anyOf/%d", i)
		}
		schema = t.arguments(f)
		forms = append(forms, schema)
	}
	if len(forms) > 1 {
		schema = map[string]any{"anyOf": forms}
	}
	if doc := strings.Join(docLines(e.doc()), "\n"); doc != "" {
		schema["description"] = doc
	}
	return schema
}

// recorded changes an input schema into one for a trail: references start at prefix, and each value may be a text with
// a token instead.
type recorded struct{ prefix string }

func (t recorded) arguments(f form) map[string]any {
	var input map[string]any
	_ = json.Unmarshal(f.InputSchema, &input) // a tool without a readable schema accepts any arguments
	schema, _ := t.schema(input).(map[string]any)
	for _, keyword := range []string{"properties", "required"} { // some servers write null for none
		if value, ok := schema[keyword]; ok && value == nil {
			delete(schema, keyword)
		}
	}
	if schema == nil {
		schema = map[string]any{}
	}
	if schema["type"] == nil {
		schema["type"] = "object"
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		for alias, name := range f.Aliases {
			properties[alias] = properties[name]
			if required := slices.Clone(asList(schema["required"])); required != nil {
				schema["required"] = slices.DeleteFunc(required, func(r any) bool { return r == name })
			}
		}
	}
	return schema
}

// schema returns a schema with what it contains changed.
func (t recorded) schema(s any) any {
	keywords, ok := s.(map[string]any)
	if !ok {
		return s
	}
	out := maps.Clone(keywords)
	if ref, ok := out["$ref"].(string); ok {
		if out["$ref"], ok = t.reference(ref); !ok {
			return map[string]any{}
		}
	}
	for key, value := range out {
		switch key {
		case "$schema", "$id", "$anchor":
			delete(out, key) // it is a part of another schema now
		case "pattern":
			if text, ok := value.(string); ok {
				out[key] = ecmaPattern(text)
			}
		case "properties", "patternProperties":
			out[key] = t.eachValue(value, t.value)
		case "$defs", "definitions":
			out[key] = t.eachValue(value, t.schema)
		case "additionalProperties", "additionalItems":
			out[key] = t.value(value)
		case "items", "prefixItems":
			out[key] = t.eachItem(value, t.value)
		case "allOf", "anyOf", "oneOf":
			out[key] = t.eachItem(value, t.schema)
		case "not", "if", "then", "else", "dependentSchemas", "contains", "propertyNames", "unevaluatedProperties", "$dynamicRef":
			delete(out, key) // they do not hold for tokens
		}
	}
	return out
}

var anyCase = lazyregexp.New(`\(\?i:([^()]*)\)`)

// ecmaPattern returns a pattern without (?i:…), which editors do not know.
func ecmaPattern(pattern string) string {
	return anyCase().ReplaceAllStringFunc(pattern, func(group string) string {
		var b strings.Builder
		for _, r := range anyCase().FindStringSubmatch(group)[1] {
			if upper, lower := unicode.ToUpper(r), unicode.ToLower(r); upper != lower {
				b.WriteString("[" + string(upper) + string(lower) + "]")
			} else {
				b.WriteRune(r)
			}
		}
		return "(?:" + b.String() + ")"
	})
}

// reference returns a reference within the new schema. ok is false for those to values that have moved, and for others.
func (t recorded) reference(ref string) (to string, ok bool) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && strings.Count(pointer, "/") != 2 ||
		pointer != "" && !strings.HasPrefix(pointer, "/$defs/") && !strings.HasPrefix(pointer, "/definitions/") {
		return "", false
	}
	return t.prefix + pointer, true
}

// value returns the schema of a value that may be a token.
func (t recorded) value(s any) any {
	changed := t.schema(s)
	keywords, ok := changed.(map[string]any)
	if !ok || isAnyText(keywords) {
		return changed
	}
	out := map[string]any{"anyOf": []any{changed, map[string]any{"$ref": "#/$defs/token"}}}
	if text := description(s); text != "" {
		out["description"] = text
	}
	return out
}

// isAnyText reports whether a schema is one of any text, or of any value.
func isAnyText(keywords map[string]any) bool {
	for key := range keywords {
		switch key {
		case "type", "description", "title", "default", "examples", "minLength", "writeOnly":
		default:
			return false
		}
	}
	return keywords["type"] == "string" || keywords["type"] == nil
}

func (t recorded) eachValue(value any, change func(any) any) any {
	schemas, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := map[string]any{}
	for name, s := range schemas {
		out[name] = change(s)
	}
	return out
}

// eachItem changes a schema, or each one of a list.
func (t recorded) eachItem(value any, change func(any) any) any {
	schemas, ok := value.([]any)
	if !ok {
		return change(value)
	}
	out := make([]any, len(schemas))
	for i, s := range schemas {
		out[i] = change(s)
	}
	return out
}

// toolKey returns the key of a tool's schema in $defs.
func toolKey(name string) string { return "tool " + name }

func escapePointer(name string) string {
	escaped := strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	return (&url.URL{Fragment: escaped}).EscapedFragment()
}
