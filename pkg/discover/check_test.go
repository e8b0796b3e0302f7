package discover_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/discover"
)

func hasToken(v any) bool {
	data, _ := json.Marshal(v)
	return strings.Contains(string(data), "{{")
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

const orderSchema = `{
	"type": "object", "additionalProperties": false, "required": ["customer"],
	"properties": {
		"customer": {
			"type": "object", "additionalProperties": false, "required": ["name", "email"],
			"properties": {
				"name": {"type": "string", "minLength": 1, "maxLength": 5},
				"email": {"type": "string", "pattern": "@"},
				"code": {"type": "string", "minLength": 3},
				"kind": {"enum": ["private", "business", 7]}
			}
		},
		"lines": {
			"type": "array", "minItems": 1, "maxItems": 3, "uniqueItems": true,
			"items": {"$ref": "#/$defs/line"}
		},
		"total": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 100.5},
		"express": {"type": "boolean"},
		"version": {"const": 1},
		"price": {"type": "number", "multipleOf": 0.01},
		"note": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
		"pay": {"oneOf": [
			{
				"type": "object", "required": ["kind", "iban"],
				"properties": {"kind": {"const": "transfer"}, "iban": {"type": "string"}}
			},
			{
				"type": "object", "required": ["kind", "card"],
				"properties": {"kind": {"const": "card"}, "card": {"type": "string"}}
			}
		]}
	},
	"$defs": {"line": {
		"type": "object", "required": ["sku"], "additionalProperties": {"type": "string"}, "minProperties": 1,
		"properties": {"sku": {"type": "string"}, "quantity": {"type": "integer", "minimum": 1, "multipleOf": 2}},
		"patternProperties": {"^x-": {"type": "boolean"}}
	}}
}`

func TestCheckArgs(t *testing.T) {
	t.Parallel()
	order := &discover.Tool{InputSchema: json.RawMessage(orderSchema)}
	const customer = `"customer": {"name": "Ann", "email": "a@b"}`
	for _, tt := range []struct {
		name, args string
		want       []string // path: message
	}{
		{"valid", `{` + customer +
			`, "lines": [{"sku": "a", "quantity": 2, "x-gift": true, "other": "b"}], "total": null, "version": 1, "price": 19.99}`, nil},
		{"nothing", `{}`, []string{`: missing argument "customer"`}},
		{
			"an empty name", `{"customer": {"name": "", "email": "ab", "code": "a", "kind": "busines"}}`,
			[]string{
				"customer.code: customer.code must have at least 3 characters; it has 1",
				"customer.email: customer.email must match the regular expression @",
				`customer.kind: customer.kind must be one of "private", "business", 7`,
				"customer.name: customer.name must not be empty",
			},
		},
		{
			"nested names", `{"customer": {"nmae": "Ann", "email": "a@b"}, "cutsomer": 1}`,
			[]string{
				`customer.nmae: unknown argument "customer.nmae"`,
				`customer: missing argument "customer.name"`,
				`cutsomer: unknown argument "cutsomer"`,
			},
		},
		{
			"types", `{"customer": [], "lines": {}, "total": "1", "express": "yes", "note": true}`,
			[]string{
				"customer: customer must be an object, not a list", "express: express must be true or false, not text",
				"lines: lines must be a list, not an object", "note: note must be text or a whole number, not true or false",
				"total: total must be a number or null, not text",
			},
		},
		{
			"numbers", `{` + customer + `, "total": 0, "lines": [{"sku": "a", "quantity": 0.5}, {"sku": "b", "quantity": -3}]}`,
			[]string{
				"lines.0.quantity: lines.0.quantity must be a whole number, not 0.5",
				"lines.1.quantity: lines.1.quantity must be at least 1; it is -3",
				"lines.1.quantity: lines.1.quantity must be a multiple of 2; it is -3",
				"total: total must be more than 0; it is 0",
			},
		},
		{"too large", `{` + customer + `, "total": 1e3}`, []string{"total: total must be at most 100.5; it is 1000"}},
		{
			"too long", `{"customer": {"name": "Annabelle", "email": "@"}}`,
			[]string{"customer.name: customer.name must have at most 5 characters; it has 9"},
		},
		{"an empty list", `{` + customer + `, "lines": []}`, []string{"lines: lines must not be empty"}},
		{
			"too many items", `{` + customer + `, "lines": [{"sku": "a"}, {"sku": "b"}, {"sku": "a"}, {"sku": "d"}]}`,
			[]string{
				"lines: lines must have at most 3 items; it has 4",
				"lines: lines must not have equal items; items 0 and 2 (counting from 0) are",
			},
		},
		{
			"fields of items", `{` + customer + `, "lines": [{"x-gift": 1, "other": 2}, {}]}`,
			[]string{
				"lines.0.other: lines.0.other must be text, not a number",
				"lines.0.x-gift: lines.0.x-gift must be true or false, not a number",
				`lines.0: missing argument "lines.0.sku"`, "lines.1: lines.1 must not be empty",
				`lines.1: missing argument "lines.1.sku"`,
			},
		},
		{"a fixed value", `{` + customer + `, "version": 2}`, []string{"version: version must be 1"}},
		{
			"the closest alternative", `{` + customer + `, "pay": {"kind": "card", "crad": "1"}}`,
			[]string{`pay: missing argument "pay.card"`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range order.CheckArgs(object(t, tt.args), nil) {
				got = append(got, strings.Join(p.Path, ".")+": "+p.Message)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckArgsHints(t *testing.T) {
	t.Parallel()
	order := &discover.Tool{InputSchema: json.RawMessage(orderSchema)}
	const usage = "it takes customer (object), express (boolean) optional, lines (array) optional, note optional, " +
		"pay optional, price (number) optional, " +
		"total (number or null) optional, version optional"
	for args, want := range map[string]string{
		`{}`:              usage,
		`{"customer": 1}`: usage,
		`{"customer": {"email": "@"}}`: "customer takes email (string), name (string), code (string) optional, " +
			"kind (one of \"private\", \"business\", 7) optional",
		`{"customer": {"name": "a", "email": "@", "emial": "@"}}`:     `did you mean "email"?`,
		`{"customer": {"name": "a", "email": "@", "kind": "privat"}}`: `did you mean "private"?`,
		`{"customer": {"name": "", "email": "@"}}`:                    "",
		`{"customer": {"name": "a", "email": "@"}, "email": "@"}`:     "write it inside customer, which has email",
	} {
		if got := order.CheckArgs(object(t, args), nil); len(got) != 1 || got[0].Hint != want {
			t.Errorf("%s: %+v, want the hint %q", args, got, want)
		}
	}
}

func TestCheckArgsOfUnresolvedValues(t *testing.T) {
	t.Parallel()
	order := &discover.Tool{InputSchema: json.RawMessage(orderSchema)}
	for args, want := range map[string]string{
		`{"customer": "{{customer}}", "lines": "{{lines}}", "pay": "{{pay}}"}`:                             "",
		`{"customer": {"name": "{{name}}", "email": "{{email}}", "kind": "{{kind}}"}, "lines": ["{{l}}"]}`: "",
		`{"customer": {"name": "{{name}}", "emial": "{{email}}"}}`: `unknown argument "customer.emial"; ` +
			`missing argument "customer.email"`,
		`{"customer": {"name": "{{name}}", "email": ""}, ` +
			`"total": 0}`: "customer.email must match the regular expression @; " +
			"total must be more than 0; it is 0",
		`{"customer": {"name": "{{a}}", "email": "@"}, "pay": {"kind": "{{kind}}", "iban": "1"}}`:      "",
		`{"customer": {"name": "{{a}}", "email": "@"}, "lines": [{"sku": "{{a}}"}, {"sku": "{{a}}"}]}`: "",
		`{"customer": {"name": "{{a}}", "email": "@"}, "note": "{{n}} {{m}}"}`:                         "",
	} {
		var got []string
		for _, p := range order.CheckArgs(object(t, args), hasToken) {
			got = append(got, p.Message)
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s: %q, want %q", args, text, want)
		}
	}
}

func TestCheckArgsOfOtherSchemas(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ schema, args, want string }{
		"one of two arguments": {
			`{"oneOf": [{"required": ["id"]}, {"required": ["text"]}]}`, `{}`,
			`the arguments must have "id" or "text"`,
		},
		"both of two arguments": {
			`{"oneOf": [{"required": ["id"]}, {"required": ["text"]}]}`, `{"id": 1, "text": 2}`,
			"the arguments do not match the input schema: oneOf",
		},
		"another keyword": {
			`{"not": {"required": ["a"]}}`, `{"a": 1}`,
			"the arguments do not match the input schema: not",
		},
		"a dependent argument": {`{"dependentRequired": {"a": ["b"]}}`, `{"a": 1}`, `missing argument "b"`},
		"a schema of itself": {
			`{"properties": {"a": {"$ref": "#"}}, "required": ["x"]}`,
			`{"x": 1, "a": {"x": 1, "a": {}}}`, `missing argument "a.a.x"`,
		},
		"an endless reference": {`{"$ref": "#", "required": ["x"]}`, `{}`, ""},
		"an endless chain": {`{"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"$ref": ` +
			`"#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}}`, `{}`, ""},
		"an endless condition": {`{"if": {"$ref": "#"}, "required": ["x"]}`, `{}`, ""},
		"a dynamic reference":  {`{"$dynamicAnchor": "a", "$dynamicRef": "#a", "required": ["x"]}`, `{}`, ""},
		"an anchor":            {`{"$ref": "#a", "$defs": {"a": {"$anchor": "a", "required": ["x"]}}}`, `{}`, ""},
		"a reference with an escape": {`{"$defs": {"a/b": {"type": "string"}}, "properties": {"a": {"$ref": ` +
			`"#/$defs/a~1b"}}}`, `{"a": 1}`, "a must be text, not a number"},
		"draft-07": {`{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"n": ` +
			`{"type": "number"}}, "properties": {"a": {"$ref": "#/definitions/n", ` +
			`"minimum": 5}}}`, `{"a": "1"}`, "a must be a number, not text"},
		"a list of words": {
			`{"properties": {"a": {"pattern": "^(?i:UP|DOWN)$"}}}`, `{"a": "sideways"}`,
			"a must be one of UP, DOWN",
		},
		"a tuple": {
			`{"properties": {"a": {"prefixItems": [{"type": "string"}], "items": {"type": "number"}}}}`,
			`{"a": [1, "b"]}`, "a.0 must be text, not a number; a.1 must be a number, not text",
		},
		"a tuple of before 2020-12": {
			`{"properties": {"a": {"items": [{"type": "string"}], "additionalItems": {"type": "number"}}}}`,
			`{"a": [1, "b"]}`, "a.0 must be text, not a number; a.1 must be a number, not text",
		},
		"annotations of another kind": {
			`{"properties": {"a": {"deprecated": "x", "examples": "y", "title": 1, "type": "string"}}}`,
			`{"a": 1}`, "a must be text, not a number",
		},
		"names of annotations": {
			`{"properties": {"title": {"type": "string"}, "const": {"const": {"title": 1}}}}`,
			`{"title": 1, "const": {"title": 1}}`, "title must be text, not a number",
		},
		"no schema":          {``, `{"x": 1}`, ""},
		"a remote reference": {`{"$ref": "https://example.com/x"}`, `{"x": 1}`, ""},
		"everything of allOf": {
			`{"allOf": [{"required": ["a"]}, {"required": ["b"]}]}`, `{}`,
			`missing argument "a"; missing argument "b"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := &discover.Tool{InputSchema: json.RawMessage(tt.schema)}
			var got []string
			for _, p := range tool.CheckArgs(object(t, tt.args), nil) {
				got = append(got, p.Message)
			}
			if text := strings.Join(got, "; "); !strings.HasPrefix(text, tt.want) || (tt.want == "") != (text == "") {
				t.Errorf("%q, want %q", text, tt.want)
			}
		})
	}
}

func TestCheckArgsOfGoValues(t *testing.T) {
	t.Parallel()
	tool := &discover.Tool{InputSchema: json.RawMessage(`{"properties": {"count": {"type": "integer"}, "tags": ` +
		`{"type": "array"}}}`)}
	for _, tt := range []struct {
		value any
		want  string
	}{
		{uint64(2), ""},
		{json.Number("2e0"), ""},
		{json.Number("2.5"), "count must be a whole number, not 2.5"},
		{json.Number("Inf"), "cannot be written as JSON"},
	} {
		got := tool.CheckArgs(map[string]any{"count": tt.value}, nil)
		if len(got) > 1 || (len(got) == 1) != (tt.want != "") || len(got) == 1 && !strings.Contains(got[0].Message, tt.want) {
			t.Errorf("%v: %+v, want %q", tt.value, got, tt.want)
		}
	}
	if got := tool.CheckArgs(map[string]any{"tags": []any(nil)}, nil); len(got) != 1 ||
		got[0].Message != "tags must be a list, not null" {
		t.Errorf("a nil list: %+v", got)
	}
}

// Any schema and arguments can be checked.
func TestMisspeltArgs(t *testing.T) {
	t.Parallel()
	const open = `{"type": "object", "properties": {"name": {}, "greeting": {}}`
	for _, tt := range []struct {
		name, schema, args string
		want               []string
	}{
		{"listed", open + `}`, `{"name": 1}`, nil},
		{"near a listed one", open + `}`, `{"nmae": 1}`, []string{`greet has no argument "nmae"; did you mean "name"?`}},
		{"two", open + `}`, `{"nam": 1, "greting": 2}`, []string{
			`greet has no argument "greting"; did you mean "greeting"?`, `greet has no argument "nam"; did you mean "name"?`,
		}},
		{"near one that is given", open + `}`, `{"nmae": 1, "name": 2}`, nil},
		{"near none", open + `}`, `{"colour": 1}`, nil},
		{"any is allowed", open + `, "additionalProperties": true}`, `{"nmae": 1}`, []string{`greet has no argument "nmae"; did you mean "name"?`}},
		{"none is allowed", open + `, "additionalProperties": false}`, `{"nmae": 1}`, nil},
		{"of a pattern", open + `, "patternProperties": {"^nm": {}}}`, `{"nmae": 1}`, nil},
		{"nothing is listed", `{"type": "object"}`, `{"nmae": 1}`, nil},
		{"no schema", ``, `{"nmae": 1}`, nil},
	} {
		var got []string
		for _, p := range (&discover.Tool{Name: "greet", InputSchema: json.RawMessage(tt.schema)}).MisspeltArgs(object(t, tt.args)) {
			got = append(got, p.Message)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func FuzzCheckArgs(f *testing.F) {
	for _, args := range []string{
		`{"customer": {"name": ""}}`, `{"lines": [{}]}`,
		`{"pay": {"kind": "card"}, "note": null}`, `{"total": 1e400}`,
	} {
		f.Add(orderSchema, args)
	}
	f.Add(`{"anyOf": [{"type": "string"}, false], "properties": {"a": {"enum": [{"b": 1}]}}}`, `{"a": {"b": 1}}`)
	f.Fuzz(func(_ *testing.T, schema, args string) {
		var values map[string]any
		if json.Unmarshal([]byte(args), &values) != nil {
			return
		}
		tool := &discover.Tool{InputSchema: json.RawMessage(schema)}
		tool.CheckArgs(values, nil)
		tool.CheckArgs(values, hasToken)
	})
}
