package tsschema_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tsschema"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// TestExports compares what is read of testdata/problems.ts: each tool, and each form of type that has no schema.
func TestExports(t *testing.T) {
	t.Parallel()
	exports, err := tsschema.New(os.ReadFile).Exports("testdata/problems.ts")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range exports {
		fmt.Fprintf(&b, "%d:%d %s tool=%v variable=%v spec=%v %q\n", e.Line, e.Column, e.Name, e.Tool, e.VariableSpec, e.Spec, e.Description)
		if e.Tool {
			fmt.Fprintf(&b, "%s\n", e.Schema)
		}
		for _, p := range slices.Concat(e.Problems, e.Invalid) {
			fmt.Fprintf(&b, "%d:%d %s\n%s\n", p.Line, p.Column, p.Message, p.Snippet)
		}
	}
	golden := filepath.Join("testdata", "problems.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// input returns the schema of a tool whose arguments have a type Input, with what is not understood.
func input(t *testing.T, declarations string) (string, fault.Problems) {
	t.Helper()
	source := declarations + "\nexport const x = trailblaze.tool<Input>(run);\n"
	exports, err := tsschema.New(func(path string) ([]byte, error) {
		if path == "x.ts" {
			return []byte(source), nil
		}
		return nil, os.ErrNotExist
	}).Exports("x.ts")
	if err != nil || len(exports) != 1 {
		t.Fatal(exports, err)
	}
	return string(exports[0].Schema), slices.Concat(exports[0].Problems, exports[0].Invalid)
}

// TestTypesThatAreNotExported may refer to themselves.
func TestTypesThatAreNotExported(t *testing.T) {
	t.Parallel()
	got, problems := input(t, "interface Input { a?: Input; l?: Loop } interface Loop { next: Loop | null }")
	const want = `{"additionalProperties":false,"definitions":{` +
		`"Input":{"additionalProperties":false,"properties":{"a":{"$ref":"#/definitions/Input"},"l":{"additionalProperties":false,` +
		`"properties":{"next":{"anyOf":[{"$ref":"#/definitions/Loop"},{"type":"null"}]}},"required":["next"],"type":"object"}},"type":"object"},` +
		`"Loop":{"additionalProperties":false,"properties":{"next":{"anyOf":[{"$ref":"#/definitions/Loop"},{"type":"null"}]}},` +
		`"required":["next"],"type":"object"}},` +
		`"properties":{"a":{"$ref":"#/definitions/Input"},"l":{"additionalProperties":false,` +
		`"properties":{"next":{"anyOf":[{"$ref":"#/definitions/Loop"},{"type":"null"}]}},"required":["next"],"type":"object"}},"type":"object"}`
	if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
		t.Errorf("%v (-want +got)\n%s", problems, diff)
	}
}

// TestTagsThatCannotBeChecked are left out with a problem, so that the other members are checked.
func TestTagsThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{`@pattern ^(?!x)a`, "@id foo", "@nullable", "@minimum 1 or more", "@maxLength", "@minItems 1.5", "@contains x"} {
		got, problems := input(t, "interface Input {\n/** "+tag+" */ a: string;\n/** @minimum 3 */ n: number }")
		const want = `{"additionalProperties":false,"properties":{"a":{},"n":{"minimum":3,"type":"number"}},"required":["a","n"],"type":"object"}`
		if diff := cmp.Diff(want, got); diff != "" || len(problems) != 1 {
			t.Errorf("%s: %v (-want +got)\n%s", tag, problems, diff)
		}
	}
}

// TestHostileScriptsAreBounded has scripts that are large, nested deeply or would have a schema without end.
func TestHostileScriptsAreBounded(t *testing.T) {
	t.Parallel()
	double := "interface Input { a: T0 }\n"
	for i := range 60 {
		double += fmt.Sprintf("interface T%d { a: T%d; b: T%d }\n", i, i+1, i+1)
	}
	for name, declarations := range map[string]string{
		"twice at each level":  double + "interface T60 {}",
		"nested objects":       "interface Input { a: " + strings.Repeat("{ a: ", 50_000) + "string",
		"nested lists":         "interface Input { a: " + strings.Repeat("[", 50_000),
		"nested parentheses":   "type Input = " + strings.Repeat("(", 50_000),
		"nested arguments":     "interface Input { a: " + strings.Repeat("Array<", 50_000),
		"many brackets":        "interface Input { a: string" + strings.Repeat("[]", 50_000) + "}",
		"open patterns":        "interface Input { a: string }; x = " + strings.Repeat("(/[", 50_000),
		"open templates":       "interface Input { a: string }; x = " + strings.Repeat("`${", 50_000),
		"readonly":             "interface Input { a: " + strings.Repeat("readonly ", 50_000) + "string }",
		"many unknown members": "interface Input {" + strings.Repeat("a: keyof X\n", 50_000) + "}",
		"a long union":         "type Input = { a: " + strings.Repeat("'x' | ", 50_000) + "'x' }",
		"a chain of aliases":   "type Input = { a: A }; type A = B; type B = A;",
		"literals":             "export const y = trailblaze.tool({ a: " + strings.Repeat("[{ a: ", 50_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			source := declarations + "\nexport const x = trailblaze.tool<Input>(run);\n"
			if _, err := tsschema.New(func(string) ([]byte, error) { return []byte(source), nil }).Exports("x.ts"); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took > time.Minute { // what is not bounded takes hours
				t.Errorf("took %v", took)
			}
		})
	}
}

// FuzzExports reads anything as a script: it never panics, schemas are JSON of objects, and every problem has a place.
func FuzzExports(f *testing.F) {
	for _, name := range []string{"testdata/problems.ts", "testdata/forms.ts", "testdata/other.ts"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
		for line := range strings.SplitSeq(string(data), "\n") {
			f.Add(line + "\nexport const x = trailblaze.tool<Input>({ a: 1 }, run);")
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		exports, err := tsschema.New(func(path string) ([]byte, error) {
			if path == "x.ts" || path == "other.ts" {
				return []byte(source), nil
			}
			return nil, os.ErrNotExist
		}).Exports("x.ts")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range exports {
			if e.Tool && decode(t, e.Schema)["type"] != "object" {
				t.Errorf("%s: %s", e.Name, e.Schema)
			}
			for _, p := range slices.Concat(e.Problems, e.Invalid) {
				if p.Line < 1 || p.Column < 1 || p.Message == "" || p.Hint == "" {
					t.Errorf("%+v", p)
				}
			}
		}
	})
}
