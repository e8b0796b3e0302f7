package yamldoc_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

func read(src string, f func(yamldoc.Node)) []string {
	doc, root := yamldoc.Parse("f.yaml", fault.Config, []byte(src))
	f(root)
	var out []string
	for _, p := range doc.Problems() {
		out = append(out, p.Error())
	}
	return out
}

func TestReadersReportEveryProblemWithItsPlace(t *testing.T) {
	t.Parallel()
	src := "name: 12\nnmae: x\ntimeout: soon\nlist: a\nname: again\n"
	got := read(src, func(n yamldoc.Node) {
		n.Fields(map[string]func(yamldoc.Node){
			"name":    func(v yamldoc.Node) { v.Str() },
			"timeout": func(v yamldoc.Node) { v.Duration() },
			"list":    func(v yamldoc.Node) { v.Items() },
		})
	})
	want := []string{
		"f.yaml:1:7: expected text, found a number (12)",
		`f.yaml:2:1: unknown key "nmae"`,
		`f.yaml:3:10: "soon" is not a duration`,
		`f.yaml:4:7: expected a list, found text ("a")`,
		`f.yaml:5:1: "name" stands twice; first in line 1, column 1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestSnippetPointsAtTheColumn(t *testing.T) {
	t.Parallel()
	doc, root := yamldoc.Parse("f.yaml", fault.Config, []byte("a: 1\nbb: 2\n"))
	root.Fields(map[string]func(yamldoc.Node){"a": func(yamldoc.Node) {}})
	want := "    1 | a: 1\n    2 | bb: 2\n      | ^"
	if got := doc.Problems()[0].Snippet; got != want {
		t.Errorf("snippet:\n%s\nwant:\n%s", got, want)
	}
}

func TestValueKeepsTypesAndResolvesAliases(t *testing.T) {
	t.Parallel()
	src := "base: &b {x: 1, y: [true, 1.5, null]}\nuse: *b\nmerged:\n  <<: *b\n  x: 2\ntext: |\n  two\n  lines\n"
	var got any
	if problems := read(src, func(n yamldoc.Node) { got = n.Value() }); problems != nil {
		t.Fatal(problems)
	}
	base := map[string]any{"x": uint64(1), "y": []any{true, 1.5, nil}}
	want := map[string]any{
		"base": base, "use": base, "text": "two\nlines\n",
		"merged": map[string]any{"x": uint64(2), "y": []any{true, 1.5, nil}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
}

func TestHostileFilesAreBounded(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 9; i++ {
		prev := string(rune('0' + i - 1))
		bomb.WriteString("a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.Repeat("*a"+prev+",", 9) + "*a" + prev + "]\n")
	}
	for name, src := range map[string]string{
		"aliases":  bomb.String(),
		"self":     "a: &a [*a]\n",
		"not utf8": "a: \xff\n",
		"two docs": "a: 1\n---\nb: 2\n",
		"syntax":   "a: [1\n",
		"infinite": "a: .inf\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if problems := read(src, func(n yamldoc.Node) { n.Value() }); len(problems) == 0 {
				t.Error("no problem reported")
			}
		})
	}
}
