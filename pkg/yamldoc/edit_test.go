package yamldoc_test

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// at returns the value below keys, which are separated by spaces.
func at(t *testing.T, n yamldoc.Node, path string) yamldoc.Node {
	t.Helper()
	for key := range strings.FieldsSeq(path) {
		found := false
		for _, e := range n.Entries() {
			if e.Key == key {
				n, found = e.Value, true
				break
			}
		}
		if !found {
			t.Fatalf("no %s", path)
		}
	}
	return n
}

func TestSetWritesOnlyTheValue(t *testing.T) {
	t.Parallel()
	list := []any{yamldoc.Map{{Key: "a", Value: "x\ny\n"}}, "z"}
	tests := []struct {
		name, in, path, key string
		value               any
		want                string
	}{
		{"text", "a: b # c\n", "", "a", "d: e", "a: \"d: e\" # c\n"},
		{"block for block", "k:\n  - 1 # c\n  # d\n", "", "k", list, "k:\n  - a: |\n      x\n      y\n  - z\n  # d\n"},
		{"block for flow", "k: [1] # c\nl: 2", "", "k", list, "k: # c\n  - a: |\n      x\n      y\n  - z\nl: 2"},
		{"beside a comment without a space", "k: []# c\n", "", "k", list[1:], "k: # c\n  - z\n"},
		{
			"before a comment that is deeper",
			"k:\n  - 1\n      # d\n", "", "k", list[:1], "k:\n  - a: \"x\\ny\\n\"\n      # d\n",
		},
		{"without a last line end", "k:\n  - 1", "", "k", list[:1], "k:\n  - a: \"x\\ny\\n\""},
		{"flow in flow", "{k: [1], l: 2}\n", "", "k", list, "{k: [{ a: \"x\\ny\\n\" }, z], l: 2}\n"},
		{
			"a new key", "k:\n    l: 1 # c\n#d\n",
			"k", "m",
			yamldoc.Map{{Key: "n", Value: nil}},
			"k:\n    l: 1 # c\n    m:\n        \"n\": null\n#d\n",
		},
		{"a new key in flow", "k: {}\n", "k", "m", true, "k: { m: true }\n"},
		{"a new key after a comma", "k: { l: 1, }\n", "k", "m", 1.0, "k: { l: 1, m: 1.0 }\n"},
		{"JSON", `{"k": {"l": 1}}`, "k", "m", map[string]any{"x": "y"}, `{"k": {"l": 1, "m": { "x": "y" }}}`},
		{"an anchor goes", "k: &a\n  - 1\n", "", "k", list[1:], "k:\n  - z\n"},
		{"inside an anchor", "k: &a\n  l: 1\n", "k", "m", int64(2), "k: &a\n  l: 1\n  m: 2\n"},
		{"an alias", "a: &a {l: 1}\nk: *a # c\n", "k", "m", int64(2), "a: &a {l: 1}\nk: # c\n  <<: *a\n  m: 2\n"},
		{"an alias in flow", "{a: &a {l: 1}, k: *a}\n", "k", "m", int64(2), "{a: &a {l: 1}, k: { <<: *a, m: 2 }}\n"},
		{
			"CRLF and a byte order mark",
			"\ufeffé: ü\r\nk:\r\n- 1\r\n", "", "k", list, "\ufeffé: ü\r\nk:\r\n- a: |\r\n    x\r\n    y\r\n- z\r\n",
		},
		{"after a tab", "{k: 1, l: [2]\t}\n", "", "l", list[1:], "{k: 1, l: [z]\t}\n"},
		{
			"text that keeps its empty lines",
			"k:\n  l: |+\n    x\n\n\nm: 1\n", "k", "n", nil, "k:\n  l: |+\n    x\n\n\n  \"n\": null\nm: 1\n",
		},
		{"empty text", "k:\n  l: |\nm: 1\n", "k", "n", nil, "k:\n  l: |\n  \"n\": null\nm: 1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, root := yamldoc.Parse("f.yaml", fault.Trail, []byte(tt.in))
			edit := doc.Edit()
			edit.Set(at(t, root, tt.path), tt.key, tt.value)
			out, err := edit.Bytes()
			if err != nil || len(doc.Problems()) > 0 {
				t.Fatal(err, doc.Problems())
			}
			if string(out) != tt.want {
				t.Errorf("got\n%q\nwant\n%q", out, tt.want)
			}
		})
	}
}

func TestAppendWritesOnlyTheItem(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"k:\n- 1\nl: 2\n":      "k:\n- 1\n- a: b\nl: 2\n",
		"k:\n  - - 1":          "k:\n  - - 1\n  - a: b",
		"k: [1,\n 2] # c\n":    "k: [1,\n 2, { a: b }] # c\n",
		"k: [] # c\n":          "k: # c\n  - a: b\n",
		"{k: []}\n":            "{k: [{ a: b }]}\n",
		"k:\n - |+\n  x\n\n\n": "k:\n - |+\n  x\n\n\n - a: b\n",
	} {
		doc, root := yamldoc.Parse("f.yaml", fault.Trail, []byte(in))
		edit := doc.Edit()
		edit.Append(at(t, root, "k"), yamldoc.Map{{Key: "a", Value: "b"}})
		out, err := edit.Bytes()
		if err != nil || string(out) != want {
			t.Errorf("%q: got\n%q\nwant\n%q\n%v", in, out, want, err)
		}
	}
}

func TestEditRejectsUnsupportedChanges(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"? k\n: [1]\n":                 "the key in line 1 cannot be edited",
		"a: \"\r\"\nk: [1]\n":          "contains a carriage return",
		"{a: !!str 1, k: [1], l: 2}\n": "line 1 cannot be edited",
	} {
		doc, root := yamldoc.Parse("f.yaml", fault.Trail, []byte(in))
		edit := doc.Edit()
		edit.Set(root, "k", int64(2))
		out, err := edit.Bytes()
		if fault.KindOf(err) != fault.Trail || !strings.Contains(err.Error(), "cannot change f.yaml: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v %q", in, err, out)
		}
	}
	doc, root := yamldoc.Parse("f.yaml", fault.Trail, []byte("[k: 1]\n"))
	edit := doc.Edit()
	edit.Set(root.Items()[0], "l", int64(2))
	if out, err := edit.Bytes(); err == nil || !strings.Contains(err.Error(), "the mapping in line 1 has no braces") {
		t.Errorf("wrote %q: %v", out, err)
	}
	doc, root = yamldoc.Parse("f.yaml", fault.Config, []byte("k: [1]\n"))
	edit = doc.Edit()
	edit.Set(root, "k", struct{}{})
	if out, err := edit.Bytes(); err == nil {
		t.Errorf("wrote %q", out)
	}
}

func TestRenameWritesOnlyTheKey(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"k:\n  a : 1 # c\n":             "k:\n  b : 1 # c\n",
		"k: {'a': 1, c: 2}\n":           "k: {b: 1, c: 2}\n",
		`{"k": {"a": 1}}`:               `{"k": {"b": 1}}`,
		"k:\r\n  a:\r\n  - 1\r\n":       "k:\r\n  b:\r\n  - 1\r\n",
		"k:\n  ? a\n  : 1\n":            "the key in line 2 cannot be edited",
		"x: &x { a: 1 }\nk: *x\n":       "the mapping in line 2 is an alias",
		"x: &x { a: 1 }\nk: {<<: *x}\n": "does not have the key a",
	} {
		doc, root := yamldoc.Parse("f.yaml", fault.Trail, []byte(in))
		edit := doc.Edit()
		edit.Rename(at(t, root, "k"), "a", "b")
		out, err := edit.Bytes()
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && string(out) != want {
			t.Errorf("%q: got\n%q\nwant\n%q\n%v", in, out, want, err)
		}
	}
}

func TestCopyMovesItemsAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"k:\n# above\n- a: 'x' # beside\n  # below\n- b\nl:\n  - 1\n": "k:\n- b\nl:\n  - 1\n  # above\n  - a: 'x' # beside\n    # below\n",
		"k:\n    - |\n      x\n\n       y\nl:\n- 1\n":                 "k: []\nl:\n- 1\n- |\n  x\n\n   y\n",
		"k: [ 'x', y ]\nl: [1]\n":                                     "k: [ y ]\nl: [1, 'x']\n",
		"k: [ { a: 'x' } ]\nl:\n- 1\n":                                "k: []\nl:\n- 1\n- value\n",
		"k:\n- 'x'\nl: [1]\n":                                         "k: []\nl: [1, value]\n",
		"k: [ 'x', # c\n y ]\nl: [1]\n":                               "k: [ y ]\nl: [1, 'x']\n",
		"k: [ { a: 1, # c\n b: 2 }, y ]\nl: [1]\n":                    "k: [ y ]\nl: [1, value]\n",
		"k:\n- 'x'\n\n- y\nl: [1]\n":                                  "k:\n- y\nl: [1, value]\n",
	} {
		doc, root := yamldoc.Parse("f.yaml", fault.Trail, []byte(in))
		edit := doc.Edit()
		from, to := at(t, root, "k"), at(t, root, "l")
		edit.ReplaceItems(to, 1, 1, []any{edit.Copy(from, 0, "value")})
		edit.ReplaceItems(from, 0, 1, nil)
		out, err := edit.Bytes()
		if err != nil || string(out) != want {
			t.Errorf("%q: got\n%q\nwant\n%q\n%v", in, out, want, err)
		}
	}
}
