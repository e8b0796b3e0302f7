package yamldoc_test

import (
	"fmt"
	"slices"
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

func TestReadersReportEveryProblemWithItsPosition(t *testing.T) {
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
		`f.yaml:5:1: "name" is defined twice; first in line 1, column 1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestSnippetPointsAtColumn(t *testing.T) {
	t.Parallel()
	doc, root := yamldoc.Parse("f.yaml", fault.Config, []byte("a: 1\nbb: 2\n"))
	root.Fields(map[string]func(yamldoc.Node){"a": func(yamldoc.Node) {}})
	want := "    1 | a: 1\n    2 | bb: 2\n      | ^"
	if got := doc.Problems()[0].Snippet; got != want {
		t.Errorf("snippet:\n%s\nwant:\n%s", got, want)
	}
}

func TestBlockSnippetShowsBlock(t *testing.T) {
	t.Parallel()
	lines := strings.Split("- tap: # it\n    text: x\r\n\n    index: 1\n- tap: { text: x }\n- tap:\n    text:\n      - a",
		"\n")
	for _, tt := range []struct {
		line, column int
		want         string
	}{
		{1, 3, "    1 | - tap: # it\n      |   ^\n    2 |     text: x\n    4 |     index: 1"},
		{5, 3, "    4 |     index: 1\n    5 | - tap: { text: x }\n      |   ^"},
		{7, 5, "    6 | - tap:\n    7 |     text:\n      |     ^\n    8 |       - a"},
		{9, 1, ""},
	} {
		if got := yamldoc.BlockSnippet(lines, tt.line, tt.column); got != tt.want {
			t.Errorf("line %d:\n%s\nwant:\n%s", tt.line, got, tt.want)
		}
	}
	long := append([]string{"- tap:"}, slices.Repeat([]string{"    a"}, 20)...)
	if got := strings.Split(yamldoc.BlockSnippet(long, 1, 3), "\n"); len(got) != 11 || got[10] != "      | …" {
		t.Errorf("a long block:\n%s", strings.Join(got, "\n"))
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	const src = "shared: &s { x: 1 }\ncall:\n  customer:\n    name: \"\"\n    tags: [a, {b: c}]\n  again: *s\n  <<: *s\n"
	_, root := yamldoc.Parse("f.yaml", fault.Config, []byte(src))
	_, at := root.ValueWithPositions()
	for path, want := range map[string][2]int{
		"":                       {1, 1},
		"call":                   {2, 1},
		"call customer name":     {4, 5},
		"call customer tags 0":   {5, 12},
		"call customer tags 1":   {5, 15},
		"call customer tags 1 b": {5, 16},
		"call customer tags 7":   {5, 5},
		"call customer missing":  {3, 3},
		"call again x":           {1, 14},
		"call x":                 {1, 14},
	} {
		line, column := at.At(strings.Fields(path))
		if got := [2]int{line, column}; got != want {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
}

func TestValueKeepsTypesAndResolvesAliases(t *testing.T) {
	t.Parallel()
	src := "base: &b {x: 1, y: [true, 1.5, null]}\nuse: *b\nmerged:\n  <<: *b\n  x: 2\ntext: |\n  two\n  lines\n"
	var got any
	if problems := read(src, func(n yamldoc.Node) { got = n.Value() }); problems != nil {
		t.Fatal(problems)
	}
	base := map[string]any{"x": int64(1), "y": []any{true, 1.5, nil}}
	want := map[string]any{
		"base": base, "use": base, "text": "two\nlines\n",
		"merged": map[string]any{"x": int64(2), "y": []any{true, 1.5, nil}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
}

// The values are those that npm's yaml reads, too.
func TestTabsAndColonsThatChangeNothing(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]any{
		"a:\tb\t# c\td\n":                  map[string]any{"a": "b"},
		"a\t: 'b\tc'\n":                    map[string]any{"a": "b\tc"},
		"a: b\n  \tc\n":                    map[string]any{"a": "b c"},
		"a: |\n  b\tc\n":                   map[string]any{"a": "b\tc\n"},
		"a: >-\t# d\n  b\tc\n  d\n":        map[string]any{"a": "b\tc d"},
		"-\ta\n-\t\"b\"\n":                 []any{"a", "b"},
		"# a\tb\nc: \"d\\te\"\t# f\tg\n":   map[string]any{"c": "d\te"},
		"{ a: [b: c, \"d\":e, {f: g}] }\n": map[string]any{"a": []any{map[string]any{"b": "c"}, map[string]any{"d": "e"}, map[string]any{"f": "g"}}},
		"{ a: 10:30, b: [http://c/d] }\n":  map[string]any{"a": "10:30", "b": []any{"http://c/d"}},
		"[10:30, 'http://c:8080']\n":       []any{"10:30", "http://c:8080"},
		"{a:\t'\"', \"b\": \"\\ud83d\\ude00\\U0001F600\\x41\\\\x\"}\n": map[string]any{"a": `"`, "b": "😀😀A\\x"},
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()
			var got any
			problems := read(src, func(n yamldoc.Node) { got = n.Value() })
			if diff := cmp.Diff(want, got); diff != "" || problems != nil {
				t.Errorf("value (-want +got):\n%s%v", diff, problems)
			}
		})
	}
}

func TestMaliciousFilesAreBounded(t *testing.T) {
	t.Parallel()
	var bomb, wide, indented strings.Builder
	bomb.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	for i := range 20_000 {
		fmt.Fprintf(&wide, "key%d: x\n", i)
	}
	for i := range 2_000 {
		indented.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	const deep = 100_000
	for name, tt := range map[string]struct{ src, want string }{
		"aliases":     {bomb.String(), "the file holds more than 500000 values"},
		"self":        {"a: &a [*a]\n", "aliases nest values deeper"},
		"self twice":  {"a: &a [*a, *a]\n", "aliases nest values deeper"},
		"self merged": {"a: &a {<<: *a}\n", "aliases nest values deeper"},
		"long aliases": {
			"a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a, ", 1000) + "]\n",
			"more than 16 MiB of text",
		},
		"not utf8":      {"a: \xff\n", "not valid UTF-8"},
		"binary":        {"a: \x00\n", "a control character"},
		"escape code":   {"a: \x1b[31mred\n", "a control character"},
		"utf-16":        {"\xff\xfea\x00:\x00", "not valid UTF-8"},
		"too large":     {strings.Repeat("# comment\n", 500_000), "larger than 4 MiB"},
		"wide":          {wide.String(), "more than 5000 keys"},
		"lists":         {strings.Repeat("[", deep), "nested deeper"},
		"mappings":      {strings.Repeat("{a: ", deep), "nested deeper"},
		"dashes":        {strings.Repeat("- ", deep) + "a\n", "nested deeper"},
		"question mark": {strings.Repeat("? ", deep) + "a\n", "nested deeper"},
		"anchors":       {strings.Repeat("&a ", deep) + "a\n", "nested deeper"},
		"flow anchors":  {"[" + strings.Repeat("&a ", deep) + "a]\n", "unexpected"},
		"tags":          {strings.Repeat("!!str ", deep) + "a\n", "nested deeper"},
		"flow tags":     {"[" + strings.Repeat("!!str ", deep) + "a]\n", "never closed"},
		"indentation":   {indented.String(), "nested deeper"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems := read(tt.src, func(n yamldoc.Node) { n.Value() })
			if len(problems) != 1 || !strings.Contains(problems[0], tt.want) {
				t.Errorf("problems %q, want one with %q", problems, tt.want)
			}
		})
	}
}

func TestProblemsOfOneFileAreBounded(t *testing.T) {
	t.Parallel()
	got := read(strings.Repeat("- 0123\n", 10_000), func(n yamldoc.Node) { n.Value() })
	if len(got) != 100 {
		t.Errorf("%d problems, want 100", len(got))
	}
}

func TestLargeFilesAreRead(t *testing.T) {
	t.Parallel()
	const step = "  - step: do it\n    recording:\n      android:\n        - tap: { text: \"hello\" }\n"
	src := "trail:\n" + strings.Repeat(step, 3_000)
	if problems := read(src, func(n yamldoc.Node) { n.Value() }); problems != nil {
		t.Error(problems)
	}
}

func TestLineEndsAndByteOrderMarkAreIgnored(t *testing.T) {
	t.Parallel()
	var got any
	problems := read("\ufeffa: |\r\n  x\r\n  y\r\nb: [1,\r\n 2]\r\n", func(n yamldoc.Node) { got = n.Value() })
	want := map[string]any{"a": "x\ny\n", "b": []any{int64(1), int64(2)}}
	if diff := cmp.Diff(want, got); diff != "" || problems != nil {
		t.Errorf("value (-want +got):\n%s%v", diff, problems)
	}
}

func TestExactFieldsAcceptOneSpelling(t *testing.T) {
	t.Parallel()
	readers := map[string]func(yamldoc.Node){"maxRetries": func(v yamldoc.Node) { v.Int() }}
	if got := read("max_retries: 1\n", func(n yamldoc.Node) { n.Fields(readers) }); got != nil {
		t.Error(got)
	}
	doc, root := yamldoc.Parse("f.yaml", fault.Config, []byte("max_retries: 1\n"))
	root.ExactFields(readers)
	if p := doc.Problems(); len(p) != 1 || p[0].Hint != `did you mean "maxRetries"?` {
		t.Error(p)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range awkward {
		f.Add("a: " + text + "\n- " + text)
	}
	f.Add("a: &a {b: [1, *a]}\n<<: *a\n? [x]\n: !!str |\n  y\n%YAML 1.2\n---\n'q\"")
	f.Fuzz(func(_ *testing.T, src string) {
		read(src, func(n yamldoc.Node) { n.Value() })
	})
}
