package tsschema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/tsschema"
)

// differs says where our schemas are not those of ts-json-schema-generator, and why.
var differs = map[string]string{
	"AliasOfAlias":       "the arguments of a tool are an object, not a reference to one",
	"AliasOfInterface":   "the arguments of a tool are an object, not a reference to one",
	"AliasesInOtherForm": "the same values, with fewer cases in the code",
	"Comments":           "links in comments stay as they are written",
	"OneLineComments":    "a comment on the line of its member describes it, too",
	"PublicMaybe":        "the arguments of a tool are an object",
	"RequiredOf":         "Required makes members required, which the generator misses",
	"UnionOfSame":        "a type with one name is not written as a list",
}

// TestSchemasAreThoseOfTheGenerator compares the schema of every type in testdata/forms.ts with the one that
// ts-json-schema-generator makes with the compiler of TypeScript.
func TestSchemasAreThoseOfTheGenerator(t *testing.T) {
	t.Parallel()
	path, err := filepath.Abs("testdata/forms.ts")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^export (?:interface|type) (\w+)`).FindAllSubmatch(source, -1) {
		names = append(names, string(m[1]))
	}
	want := generated(t, path, names)
	var tools strings.Builder
	for _, name := range names {
		fmt.Fprintf(&tools, "\nexport const %s = trailblaze.tool<%[1]s>(run);", name)
	}
	scripts := tsschema.New(func(p string) ([]byte, error) {
		data, err := os.ReadFile(p)
		if p == path {
			data = append(data, tools.String()...)
		}
		return data, err
	})
	exports, err := scripts.Exports(path)
	if err != nil || len(exports) != len(names) {
		t.Fatal(len(exports), len(names), err)
	}
	for _, e := range exports {
		if want[e.Name]["type"] != nil && want[e.Name]["type"] != "object" {
			continue // not the arguments of a tool
		}
		for _, p := range slices.Concat(e.Problems, e.Invalid) {
			t.Errorf("%s: %v", e.Name, p)
		}
		diff := cmp.Diff(canonical(want[e.Name]), canonical(decode(t, e.Schema)))
		if _, expected := differs[e.Name]; expected != (diff != "") {
			t.Errorf("%s: expected to differ: %v (-generator +ours)\n%s", e.Name, expected, diff)
		}
	}
	if len(exports) < 100 {
		t.Errorf("%d types are compared", len(exports))
	}
}

// generated returns the schemas that the generator makes.
func generated(t *testing.T, path string, names []string) map[string]map[string]any {
	t.Helper()
	dir, err := filepath.Abs("../../testdata/tsschema")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Fatalf("%v; run make deps", err)
	}
	out, err := exec.Command("node", append([]string{filepath.Join(dir, "schemas.mjs"), path}, names...)...).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all := map[string]map[string]any{}
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func decode(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return value
}

// canonical returns a schema without what says nothing: the order of required properties, empty lists, and that
// additional ones may have any value.
func canonical(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, member := range v {
			member = canonical(member)
			empty := cmp.Equal(member, map[string]any{})
			switch {
			case key == "$schema", empty && slices.Contains([]string{"properties", "definitions", "additionalProperties"}, key):
			case key == "minItems" && member == 0.0:
			case key == "required":
				list, _ := member.([]any)
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
				out[key] = list
			default:
				out[key] = member
			}
		}
		return out
	case []any:
		for i := range v {
			v[i] = canonical(v[i])
		}
	}
	return value
}
