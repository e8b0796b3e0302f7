package discover_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/discover"
)

const coercedSchema = `{
  "type": "object",
  "properties": {
    "text": {"type": "string"}, "number": {"type": "number"}, "integer": {"type": "integer"}, "flag": {"type": "boolean"},
    "either": {"type": ["number", "string"]}, "maybe": {"type": ["boolean", "null"]}, "any": {}, "basket": {"$ref": "#/definitions/Basket"},
    "count": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "note": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "second": {"oneOf": [{"$ref": "#/definitions/Basket"}, {"type": "null"}]}, "self": {"$ref": "#"},
    "pair": {"type": "array", "items": [{"type": "number"}, {"type": "string"}], "additionalItems": {"type": "number"}}
  },
  "additionalProperties": {"type": "number"},
  "definitions": {
    "Basket": {"type": "object", "properties": {"counts": {"type": "array", "items": {"type": "number"}}, "next": {"$ref": "#/definitions/Basket"}}}
  }
}`

func TestCoerced(t *testing.T) {
	t.Parallel()
	tool := discover.Tool{Name: "t", Coerces: true, InputSchema: json.RawMessage(coercedSchema)}
	for in, want := range map[string]string{
		`{"text": 3}`:                               `{"text": "3"}`,
		`{"text": 2.5, "flag": "true"}`:             `{"text": "2.5", "flag": true}`,
		`{"text": true, "flag": "false"}`:           `{"text": "true", "flag": false}`,
		`{"text": null, "flag": "yes"}`:             `{"text": null, "flag": "yes"}`,
		`{"text": [1]}`:                             `{"text": [1]}`,
		`{"number": "3"}`:                           `{"number": 3}`,
		`{"number": "-2.5", "integer": "7"}`:        `{"number": -2.5, "integer": 7}`,
		`{"number": "0130", "integer": "2.5"}`:      `{"number": "0130", "integer": "2.5"}`,
		`{"number": "2.50", "integer": "1e3"}`:      `{"number": "2.50", "integer": "1e3"}`,
		`{"number": "{{n}}", "integer": ""}`:        `{"number": "{{n}}", "integer": ""}`,
		`{"number": true, "flag": 1}`:               `{"number": true, "flag": 1}`,
		`{"number": "12345678901234567890"}`:        `{"number": "12345678901234567890"}`,
		`{"either": "3", "maybe": "true"}`:          `{"either": "3", "maybe": true}`,
		`{"either": 3, "any": "3", "more": "3"}`:    `{"either": 3, "any": "3", "more": 3}`,
		`{"pair": ["1", 2, "3"]}`:                   `{"pair": [1, "2", 3]}`,
		`{"basket": {"counts": ["1", 2, "x"]}}`:     `{"basket": {"counts": [1, 2, "x"]}}`,
		`{"basket": {"next": {"counts": ["1"]}}}`:   `{"basket": {"next": {"counts": [1]}}}`,
		`{"basket": "3", "text": {"counts": "17"}}`: `{"basket": "3", "text": {"counts": "17"}}`,
	} {
		var args, wanted map[string]any
		if json.Unmarshal([]byte(in), &args) != nil || json.Unmarshal([]byte(want), &wanted) != nil {
			t.Fatal(in)
		}
		if diff := cmp.Diff(wanted, tool.Coerced(args)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
		before, _ := json.Marshal(args)
		if diff := cmp.Diff(compact(t, in), compact(t, string(before))); diff != "" {
			t.Errorf("%s was changed:\n%s", in, diff)
		}
	}
}

func TestFittedChangesOnlyWhatReplacedTokens(t *testing.T) {
	t.Parallel()
	tool := discover.Tool{Name: "t", InputSchema: json.RawMessage(coercedSchema)}
	hasToken := func(written any) bool {
		raw, _ := json.Marshal(written)
		return bytes.Contains(raw, []byte("{{"))
	}
	for _, c := range []struct{ written, args, want string }{
		{`{"text": "{{n}}", "number": "{{t}}"}`, `{"text": 3, "number": "4"}`, `{"text": "3", "number": 4}`},
		{`{"text": 3, "integer": "{{t}}"}`, `{"text": 3, "integer": "7"}`, `{"text": 3, "integer": 7}`},
		{`{"number": "4", "flag": "{{t}}"}`, `{"number": "4", "flag": "true"}`, `{"number": "4", "flag": true}`},
		{
			`{"basket": {"counts": ["1", "{{t}}"]}}`, `{"basket": {"counts": ["1", "2"]}}`,
			`{"basket": {"counts": ["1", 2]}}`,
		},
		{`{"basket": "{{t}}"}`, `{"basket": {"counts": ["1"]}}`, `{"basket": {"counts": ["1"]}}`},
		{`{"any": "{{n}}", "number": "{{t}}"}`, `{"any": 3, "number": "004"}`, `{"any": 3, "number": "004"}`},
		{`{"text": 3}`, `{"text": 3}`, `{"text": 3}`},
		{`{"count": "{{t}}", "note": "{{t}}"}`, `{"count": "7", "note": "7"}`, `{"count": 7, "note": "7"}`},
		{`{"second": {"counts": ["{{t}}"]}, "self": {"flag": "{{t}}"}}`, `{"second": {"counts": ["1"]}, "self": {"flag": "true"}}`, `{"second": {"counts": [1]}, "self": {"flag": true}}`},
	} {
		written, _ := compact(t, c.written).(map[string]any)
		args, _ := compact(t, c.args).(map[string]any)
		var got any = tool.Fitted(written, args, hasToken)
		if diff := cmp.Diff(compact(t, c.want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.written, diff)
		}
	}
}

// TestMaskedArgs has the forms in which schemas mark a secret that may be missing, or is in an object.
func TestMaskedArgs(t *testing.T) {
	t.Parallel()
	const secret = `{"type": "string", "writeOnly": true}`
	tool := discover.Tool{InputSchema: json.RawMessage(`{"properties": {
		"pin": ` + secret + `, "password": {"anyOf": [` + secret + `, {"type": "null"}]}, "user": {"type": "string"},
		"login": {"$ref": "#/$defs/L"}, "keys": {"items": ` + secret + `},
		"pair": {"items": [{}, ` + secret + `], "additionalItems": ` + secret + `}, "trio": {"prefixItems": [` + secret + `]}
	}, "$defs": {"L": {"properties": {"name": {"type": "string"}, "pin": ` + secret + `}}}}`)}
	args, _ := compact(t, `{"pin": "1", "password": "2", "user": "3", "login": {"name": "4", "pin": "5"}, "keys": ["6"], "pair": ["1", "2", "3"], "trio": ["1", "2"], "more": "7"}`).(map[string]any)
	want := compact(t, `{"pin": "{{hidden}}", "password": "{{hidden}}", "user": "3", "login": {"name": "4", "pin": "{{hidden}}"}, "keys": ["{{hidden}}"], "pair": ["1", "{{hidden}}", "{{hidden}}"], "trio": ["{{hidden}}", "2"], "more": "7"}`)
	if diff := cmp.Diff(want, any(tool.MaskedArgs(args))); diff != "" {
		t.Error(diff)
	}
}

func compact(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestCoercedArgumentsAreChecked says that a check of arguments sees what the tool will.
func TestCoercedArgumentsAreChecked(t *testing.T) {
	t.Parallel()
	args := map[string]any{"number": "3", "text": 3}
	tool := discover.Tool{Name: "t", Coerces: true, InputSchema: json.RawMessage(coercedSchema)}
	if problems := tool.CheckArgs(args, nil); problems != nil {
		t.Errorf("problems %v", problems)
	}
	if problems := tool.CheckArgs(map[string]any{"number": "03"}, nil); len(problems) != 1 {
		t.Errorf("problems %v", problems)
	}
	strict := discover.Tool{Name: "t", InputSchema: json.RawMessage(coercedSchema)}
	if problems := strict.CheckArgs(args, nil); len(problems) != 2 {
		t.Errorf("problems of a tool that does not coerce: %v", problems)
	}
	unknown := discover.Tool{Name: "t", Coerces: true, InputSchema: json.RawMessage(`{"properties":{"a":{"$ref":"#/nowhere"},"b":{"$ref":"other.json"},"c":{"$ref":"#"}}}`)}
	if diff := cmp.Diff(map[string]any{"a": "1", "b": "2", "c": "3"}, unknown.Coerced(map[string]any{"a": "1", "b": "2", "c": "3"})); diff != "" {
		t.Error(diff)
	}
}
