package yamldoc_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

func edited(t *testing.T, in string, change func(*yamldoc.Editor, yamldoc.Node)) string {
	t.Helper()
	doc, root := yamldoc.Parse("f.yaml", fault.Trail, []byte(in))
	edit := doc.Edit()
	change(edit, root)
	out, err := edit.Bytes()
	if err != nil || len(doc.Problems()) > 0 {
		t.Fatalf("%q: %v %v", in, err, doc.Problems())
	}
	return string(out)
}

func TestReplaceItemsKeepsOtherItems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		from, to int
		items    []any
		want     string
	}{
		{"nothing", "k: [a] # c\n", 1, 1, nil, "k: [a] # c\n"},
		{"all", "k:\n- a # c\n", 0, 1, []any{"x", "w"}, "k:\n- x\n- w\n"},
		{"none left", "k:\n- a # c\n", 0, 1, nil, "k: []\n"},
		{"insert into an empty list", "k: [] # c\n", 0, 0, []any{"x"}, "k: # c\n  - x\n"},

		{"insert first", "k:\n# a\n- a\n", 0, 0, []any{"x", "w"}, "k:\n- x\n- w\n# a\n- a\n"},
		{"insert first in the document", "- a\n- b\n", 0, 0, []any{"x"}, "- x\n- a\n- b\n"},
		{"insert between", "k:\n- a # a\n  # more\n# b\n- b\n", 1, 1, []any{"x"}, "k:\n- a # a\n  # more\n- x\n# b\n- b\n"},
		{"insert last", "k:\n - a\n\n# end", 1, 1, []any{"x"}, "k:\n - a\n - x\n\n# end"},
		{"insert after empty lines", "k:\n- a\n\n- b\nl: 1\n", 2, 2, []any{"x", "w"}, "k:\n- a\n\n- b\n\n- x\n\n- w\nl: 1\n"},
		{"insert in a nested list", "- - a\n  - b\n", 0, 0, []any{"x"}, "- - x\n  - a\n  - b\n"},

		{"remove first", "k: # k\n# a\n- a # a\n  # more\n# b\n- b\n", 0, 1, nil, "k: # k\n# b\n- b\n"},
		{"remove first in the document", "- a\n- b\n", 0, 1, nil, "- b\n"},
		{"remove between", "k:\n- a\n# b\n- b:\n    c: |\n      d\n\n- e\n", 1, 2, nil, "k:\n- a\n\n- e\n"},
		{"remove last", "k:\n- a\n# far\n\n# b\n- b # b\n# end\n", 1, 2, nil, "k:\n- a\n# far\n\n# end\n"},
		{"remove without a line end", "k:\n- a\n- b", 1, 2, nil, "k:\n- a"},
		{"remove below text without a line end", "k:\n- |\n  a\n- b", 1, 2, nil, "k:\n- |\n  a\n"},
		{"remove between empty lines", "k:\n- a\n\n- b\n\n- c\n", 1, 2, nil, "k:\n- a\n\n- c\n"},
		{"remove from a nested list", "- - a\n  # b\n  - b\n", 0, 1, nil, "- # b\n  - b\n"},
		{"remove text that keeps its empty lines", "k:\n- a\n- |+\n  b\n\n- c\n", 1, 2, nil, "k:\n- a\n- c\n"},

		{"replace first", "k:\n# a\n- a # a\n- b\n", 0, 1, []any{"x"}, "k:\n- x\n- b\n"},
		{"replace first in the document", "- a\n- b\n", 0, 1, []any{"x"}, "- x\n- b\n"},
		{"replace last", "k:\n- a\n- b: |\n   c\n", 1, 2, []any{"x", "w\nz\n"}, "k:\n- a\n- x\n- |\n  w\n  z\n"},
		{"replace in a nested list", "- - a # a\n  - b\n", 0, 1, []any{"x"}, "- - x\n  - b\n"},

		{"flow: insert first", "k: [a, b]\n", 0, 0, []any{"x", "w"}, "k: [x, w, a, b]\n"},
		{"flow: insert between", "k: [ a: b , c ]\n", 1, 1, []any{"x"}, "k: [ a: b, x , c ]\n"},
		{"flow: insert last", "k: [a, b,]\n", 2, 2, []any{"x"}, "k: [a, b, x,]\n"},
		{"flow: insert in lines", "k: [\n  a, # a\n  # b\n  b # b\n]\n", 1, 1, []any{"x"}, "k: [\n  a, # a\n  x,\n  # b\n  b # b\n]\n"},
		{"flow: insert last in lines", "k: [\n  a\n]\n", 1, 1, []any{"x"}, "k: [\n  a,\n  x\n]\n"},
		{"flow: remove first", "k: [[a, b], {c: d}]\n", 0, 1, nil, "k: [{c: d}]\n"},
		{"flow: remove between", "k: [a: b, c, d]\n", 1, 2, nil, "k: [a: b, d]\n"},
		{"flow: remove last", "k: [a, b, 'c' ]\n", 1, 3, nil, "k: [a ]\n"},
		{"flow: remove before a comma", "k: [a, b,]\n", 1, 2, nil, "k: [a,]\n"},
		{"flow: remove lines", "k: [\n  # a\n  a, # a\n  # b\n  b, # b\n]\n", 0, 1, nil, "k: [\n  # b\n  b, # b\n]\n"},
		{"flow: remove the last line", "k: [\n  a, # a\n  # b\n  b, # b\n]\n", 1, 2, nil, "k: [\n  a, # a\n]\n"},
		{"flow: remove beside a comment", "k: [a, # a\n  b]\n", 1, 2, nil, "k: [a, # a\n  ]\n"},
		{"flow: replace", "k: [a, {b: [c]}, d]\n", 1, 2, []any{"x", "w"}, "k: [a, x, w, d]\n"},
		{"JSON", `{"k": ["a", "b"]}`, 0, 1, []any{"x"}, `{"k": ["x", "b"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, lineEnd := range []string{"\n", "\r\n"} {
				out := edited(t, strings.ReplaceAll(tt.in, "\n", lineEnd), func(edit *yamldoc.Editor, root yamldoc.Node) {
					list := root
					switch {
					case root.Kind() == yamldoc.Mapping:
						list = at(t, root, "k")
					case root.Items()[0].Kind() == yamldoc.List:
						list = root.Items()[0]
					}
					edit.ReplaceItems(list, tt.from, tt.to, tt.items)
				})
				if diff := cmp.Diff(strings.ReplaceAll(tt.want, "\n", lineEnd), out); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestReplaceKeysKeepsOtherKeys(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in, path, remove string
		add                    yamldoc.Map
		want                   string
	}{
		{"nothing", "a: 1 # a\n", "", "x y", nil, "a: 1 # a\n"},
		{"some", "a: 1\n# b\nb:\n- 2\n  # deeper\n# c\nc: 3\nd: 4 # d\n", "", "d b", nil, "a: 1\n# c\nc: 3\n"},
		{"all", "k: # k\n  a: 1\n", "k", "a", nil, "k: {} # k\n"},
		{"replaced", "a: 1\nb: 2 # b\nc: 3\n", "", "b", yamldoc.Map{{Key: "x", Value: true}, {Key: "z", Value: nil}}, "a: 1\nx: true\nz: null\nc: 3\n"},
		{"replaced by all", "k: { a: 1 }\n", "k", "a", yamldoc.Map{{Key: "x", Value: true}}, "k:\n  x: true\n"},
		{"added", "k: { a: 1 }\n", "k", "", yamldoc.Map{{Key: "x", Value: true}}, "k: { a: 1, x: true }\n"},
		{"first of an item", "k:\n- a: 1 # a\n  # b\n  b: 2\n", "k", "a", nil, "k:\n- # b\n  b: 2\n"},
		{"in flow", "k: {a: 1, b: {c: 2}, d: 3}\n", "k", "a d", nil, "k: {b: {c: 2}}\n"},
		{"in flow, replaced", "k: {a: 1, b: 2, # b\n  c: 3}\n", "k", "b c", yamldoc.Map{{Key: "x", Value: true}}, "k: {a: 1, x: true}\n"},
		{"merge keys stay", "a: &a {b: 1}\nk: {<<: *a, b: 2, c: 3}\n", "k", "b", nil, "a: &a {b: 1}\nk: {<<: *a, c: 3}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := edited(t, tt.in, func(edit *yamldoc.Editor, root yamldoc.Node) {
				mapping := at(t, root, tt.path)
				if mapping.Kind() == yamldoc.List {
					mapping = mapping.Items()[0]
				}
				edit.ReplaceKeys(mapping, strings.Fields(tt.remove), tt.add)
			})
			if diff := cmp.Diff(tt.want, out); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestInsertAddsKeyBefore(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a: 1\n\n# b\nb: 2\n": "a: 1\n\nx: true\n\n# b\nb: 2\n",
		"b: 2":                "x: true\nb: 2",
		"{a: 1, b: 2}\n":      "{a: 1, x: true, b: 2}\n",
	} {
		out := edited(t, in, func(edit *yamldoc.Editor, root yamldoc.Node) { edit.Insert(root, "b", "x", true) })
		if diff := cmp.Diff(want, out); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
}

// Of two insertions at one place, the one into the inner collection comes first.
func TestInsertionsIntoNestedCollections(t *testing.T) {
	t.Parallel()
	out := edited(t, "k:\n  l: [] # l", func(edit *yamldoc.Editor, root yamldoc.Node) {
		edit.Set(root, "m", int64(1))
		edit.Set(at(t, root, "k"), "w", true)
		edit.Set(at(t, root, "k"), "l", []any{"x"})
	})
	if want := "k:\n  l: # l\n    - x\n  w: true\nm: 1"; out != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

func TestReplacingEntriesRejectsUnsupportedChanges(t *testing.T) {
	t.Parallel()
	const aliases = "a: &a [1, 2]\nb: &b {c: 1}\nk: *a\nl: *b\n"
	for want, change := range map[string]func(*yamldoc.Editor, yamldoc.Node){
		"the list in line 3 is an alias": func(edit *yamldoc.Editor, root yamldoc.Node) {
			edit.ReplaceItems(at(t, root, "k"), 0, 1, nil)
		},
		"the mapping in line 4 is an alias": func(edit *yamldoc.Editor, root yamldoc.Node) {
			edit.ReplaceKeys(at(t, root, "l"), []string{"c"}, nil)
		},
	} {
		doc, root := yamldoc.Parse("f.yaml", fault.Trail, []byte(aliases))
		edit := doc.Edit()
		change(edit, root)
		out, err := edit.Bytes()
		if fault.KindOf(err) != fault.Trail || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", out, err)
		}
	}
	doc, root := yamldoc.Parse("f.yaml", fault.Trail, []byte("[a: 1]\n"))
	edit := doc.Edit()
	edit.Insert(root.Items()[0], "a", "b", true)
	if out, err := edit.Bytes(); err == nil || !strings.Contains(err.Error(), "line 1 cannot be edited") {
		t.Errorf("wrote %q: %v", out, err)
	}
}
