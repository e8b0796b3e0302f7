package typings

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "rewrite golden files")

// listed returns the tools of testdata, which have every kind of schema and hostile names.
func listed(t *testing.T) []Tool {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "tools.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tools []Tool
	if err := json.Unmarshal(data, &tools); err != nil {
		t.Fatal(err)
	}
	return tools
}

// base is a schema of trails that only has calls.
const base = `{"$ref": "#/$defs/call", "$defs": {"call": {"type": "object", "properties": {"saveAs": {"type": "string"}}}}}`

func TestGolden(t *testing.T) {
	t.Parallel()
	tools := listed(t)
	schema, err := TrailSchema([]byte(base), tools)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{
		TypeScriptFile: TypeScript(tools), PythonFile: Python(tools), "trail.schema.json": schema,
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got), go test -update rewrites it:\n%s", name, diff)
		}
	}
}

func TestOrderOfToolsDoesNotMatter(t *testing.T) {
	t.Parallel()
	tools := slices.DeleteFunc(listed(t), func(t Tool) bool { return t.Scope != "shop on web" })
	want := bytesOf(t, tools)
	slices.Reverse(tools)
	if !bytes.Equal(bytesOf(t, tools), want) {
		t.Error("the order in which tools are listed changes the files")
	}
}

func bytesOf(t *testing.T, tools []Tool) []byte {
	t.Helper()
	schema, err := TrailSchema([]byte(base), tools)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Join([][]byte{TypeScript(tools), Python(tools), schema}, nil)
}

// TestNestedReferencesAreBounded: ten levels of ten references are 10^10 properties.
func TestNestedReferencesAreBounded(t *testing.T) {
	t.Parallel()
	defs := map[string]any{"d10": map[string]any{"type": "string"}}
	for level := range 10 {
		properties := map[string]any{}
		for i := range 10 {
			properties[fmt.Sprintf("p%d", i)] = map[string]any{"$ref": fmt.Sprintf("#/$defs/d%d", level+1)}
		}
		defs[fmt.Sprintf("d%d", level)] = map[string]any{"type": "object", "properties": properties}
	}
	data, err := json.Marshal(map[string]any{
		"type": "object", "properties": map[string]any{"x": map[string]any{"$ref": "#/$defs/d0"}}, "$defs": defs,
	})
	if err != nil {
		t.Fatal(err)
	}
	tools := []Tool{{Name: "nested", InputSchema: data}}
	first := bytesOf(t, tools)
	if len(first) > 4<<20 || !bytes.Equal(first, bytesOf(t, tools)) {
		t.Errorf("%d bytes, or not the same again", len(first))
	}
}

// TestPropertiesNamedLikeKeywordsOfPython: Python itself parses the stub.
func TestPropertiesNamedLikeKeywordsOfPython(t *testing.T) {
	t.Parallel()
	object := map[string]any{"type": "object", "properties": map[string]any{"q": map[string]any{"type": "string"}, "a-b": true}}
	properties := map[string]any{}
	for _, name := range append(pythonKeywords(), "false", "none", "true", "match", "type", "str", "dict", "any", "literal", "__x", "self") {
		properties[name] = object
		object = map[string]any{"type": "object", "properties": map[string]any{name: map[string]any{"type": "string"}}}
	}
	data, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-c", "import ast, sys; ast.parse(sys.stdin.read())")
	cmd.Stdin = bytes.NewReader(Python([]Tool{{Name: "k", InputSchema: data}}))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestNothingHiddenIsWritten(t *testing.T) {
	t.Parallel()
	tools := listed(t)
	for _, text := range []string{string(TypeScript(tools)), string(Python(tools))} {
		for i, r := range text {
			if r != '\n' && isHidden(r) {
				t.Errorf("%q at %d", r, i)
			}
		}
	}
}

func TestTrailSchemaChecksCalls(t *testing.T) {
	t.Parallel()
	tools := listed(t)
	tools = append(tools, Tool{
		Name: "openApp", Scope: "shop on web", Aliases: map[string]string{"packageId": "appId"},
		InputSchema: json.RawMessage(`{"properties": {"appId": {"type": "string"}}, "required": ["appId"], "additionalProperties": false}`),
	})
	data, err := TrailSchema([]byte(base), tools)
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for call, ok := range map[string]bool{
		`{"tap": {"text": "OK"}, "saveAs": "x"}`:                                true,
		`{"tap": {"text": "OK", "index": 1}}`:                                   true,
		`{"tap": {"text": "OK", "index": "{{index}}"}}`:                         true,
		`{"tap": {"text": "OK", "index": "one"}}`:                               false,
		`{"tap": {"txt": "OK"}}`:                                                false,
		`{"tap": {}}`:                                                           false,
		`{"tip": {"text": "OK"}}`:                                               false,
		`{"scroll": {"pixels": 3}}`:                                             true,
		`{"scroll": {"direction": "up"}}`:                                       true,
		`{"scroll": {"direction": "${way}"}}`:                                   true,
		`{"scroll": {"direction": "left"}}`:                                     false,
		`{"signUp": {"plan": "free", "address": "{{address}}"}}`:                true,
		`{"signUp": {"plan": "free", "address": {"street": "A"}}}`:              false,
		`{"signUp": {"plan": "free", "address": {"street": "A", "city": "B"}}}`: true,
		`{"recursive": {"node": {"name": "a", "children": [{"name": "b"}]}}}`:   true,
		`{"recursive": {"node": {"name": "a", "children": [{}]}}}`:              false,
		`{"remote": {"anything": 1}}`:                                           true,
		`{"cart.add-item": {"sku": "1"}}`:                                       true,
		`{"*/ }; x\n": {}}`:                                                     true,
		`{"openApp": {"packageId": "a"}}`:                                       true,
		`{"openApp": {"package": "a"}}`:                                         false,
	} {
		var value any
		if err := json.Unmarshal([]byte(call), &value); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(value); (err == nil) != ok {
			t.Errorf("%s: %v, want valid: %t", call, err, ok)
		}
	}
}
