package aria

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

var update = flag.Bool("update", false, "write the golden files from what Playwright says")

// web is where the pages are, and the program that asks Playwright about them.
const web = "../../../testdata/web"

// answer is what the program says of a page.
type answer struct {
	URL      string   `json:"url"`
	Snapshot string   `json:"snapshot"`
	Refs     []string `json:"refs"`
	Capture  Capture  `json:"capture"`

	Templates []struct {
		Template string
		Matches  bool
	} `json:"templates"`
}

// askPlaywright runs Playwright over pages in the browser that is here.
func askPlaywright(t *testing.T, pages []string) []answer {
	t.Helper()
	if _, err := os.Stat(web + "/playwright/node_modules/@playwright/test"); err != nil {
		t.Fatalf("%v: run make deps", err)
	}
	args := []string{"aria.mjs", spawntest.Chromium(t)}
	for _, page := range pages {
		path, err := filepath.Abs(page)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "file://"+filepath.ToSlash(path))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, "node", args...)
	node.Dir = web + "/playwright"
	node.Cancel = func() error { return node.Process.Signal(os.Interrupt) } // it closes its browser
	node.WaitDelay = 10 * time.Second
	var problems bytes.Buffer
	node.Stderr = &problems
	out, err := node.Output()
	if err != nil {
		t.Fatalf("node aria.mjs: %v\n%s", err, &problems)
	}
	var answers []answer
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var a answer
		if err := d.Decode(&a); err == io.EOF {
			return answers
		} else if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
}

// The golden files are Playwright's words; both the browser that is here and Snapshot must still say the same. A short
// run tries every third page; pkg/web compares all golden files with what it makes of the pages.
func TestSnapshotMatchesPlaywright(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(web + "/aria/*.html")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	if testing.Short() {
		for i := range len(pages) / 3 {
			pages[i] = pages[3*i]
		}
		pages = pages[:len(pages)/3]
	}
	answers := askPlaywright(t, pages)
	for i, page := range pages {
		base := strings.TrimSuffix(page, ".html")
		t.Run(filepath.Base(base), func(t *testing.T) {
			t.Parallel()
			a := answers[i]
			a.Snapshot = strings.ReplaceAll(a.Snapshot, `"Password": hunter2`,
				`"Password": •••••••`) // the one thing that we do not tell
			tree := Snapshot(&a.Capture)
			if diff := cmp.Diff(lines(a.Snapshot), lines(tree.String())); diff != "" {
				t.Errorf("the snapshot (-Playwright +ours)\n%s", diff)
			}
			if diff := cmp.Diff(a.Refs, refs(tree)); diff != "" {
				t.Errorf("the numbers (-Playwright +ours)\n%s", diff)
			}
			for _, tt := range a.Templates {
				template, err := ParseTemplate(strings.ReplaceAll(tt.Template, `"Password": hunter2`, `"Password": •••••••`))
				if err != nil {
					t.Errorf("%v in\n%s", err, tt.Template)
					continue
				}
				if ok, difference := tree.Match(template); ok != tt.Matches || !ok && difference == "" {
					t.Errorf("the page matches: %v, by Playwright: %v\n%s\n%s", ok, tt.Matches, tt.Template, difference)
				}
			}
			if filepath.Base(base) == "large" {
				return // its golden file would be large too
			}
			golden(t, base+".aria.yml", tree.String())
			golden(t, base+".refs.txt", strings.Join(refs(tree), "\n"))
		})
	}
}

func golden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lines(string(want)), lines(text+"\n")); diff != "" {
		t.Errorf("%s (-golden +ours)\n%s", file, diff)
	}
}

func lines(s string) []string { return strings.Split(s, "\n") }

// refs are the numbered lines as aria.mjs writes them.
func refs(t *Tree) []string {
	var list []string
	for _, l := range t.Lines() {
		if l.Ref != "" {
			list = append(list, l.Ref+" "+l.key())
		}
	}
	return list
}

// el and tx make a capture of elements and texts; depth comes from how they are nested.
type el struct {
	tag     string
	attrs   []string
	display string // empty for an element that is not rendered
	holds   []any  // el or string
}

func capture(root el) *Capture {
	c := &Capture{Documents: make([]document, 1)}
	d := &c.Documents[0]
	text := func(s string) int {
		c.Strings = append(c.Strings, s)
		return len(c.Strings) - 1
	}
	var add func(parent int, item any)
	add = func(parent int, item any) {
		i := len(d.Nodes.NodeType)
		d.Nodes.ParentIndex = append(d.Nodes.ParentIndex, parent)
		d.Nodes.BackendNodeID = append(d.Nodes.BackendNodeID, 100+i)
		e, isElement := item.(el)
		kind, name, value := textNode, "#text", -1
		var attrs []int
		if isElement {
			kind, name = elementNode, e.tag
			for _, a := range e.attrs {
				attrs = append(attrs, text(a))
			}
		} else {
			value = text(item.(string))
		}
		d.Nodes.NodeType = append(d.Nodes.NodeType, kind)
		d.Nodes.NodeName = append(d.Nodes.NodeName, text(name))
		d.Nodes.NodeValue = append(d.Nodes.NodeValue, value)
		d.Nodes.Attributes = append(d.Nodes.Attributes, attrs)
		if !isElement || e.display != "" {
			d.Layout.NodeIndex = append(d.Layout.NodeIndex, i)
			d.Layout.Styles = append(d.Layout.Styles,
				[]int{text(e.display), text("visible"), text("normal"), text("visible")})
			d.Layout.Bounds = append(d.Layout.Bounds, []float64{0, 0, 10, 10})
		}
		for _, held := range e.holds {
			add(i, held)
		}
	}
	add(-1, root)
	return c
}

func shown(holds ...any) *Capture { return capture(el{"HTML", nil, "block", holds}) }

func block(tag string, holds ...any) el { return el{tag, nil, "block", holds} }

func TestRef(t *testing.T) {
	t.Parallel()
	tree := Snapshot(shown(block("P", "Hello"), block("DIV", block("BUTTON", "Pay")), block("BUTTON", "Pay")))
	for _, c := range []struct {
		ref, role string
		id        int
	}{{"e1", "paragraph", 101}, {"e2", "button", 104}, {"e3", "button", 106}} {
		line, ok := tree.Ref(c.ref)
		if !ok || line.Role != c.role || line.BackendNodeID != c.id || line.Ref != c.ref {
			t.Errorf("%s is %+v, %v; want %s with id %d", c.ref, line, ok, c.role, c.id)
		}
	}
	for _, ref := range []string{"e0", "e4", "e01", "e", "", "1"} {
		if line, ok := tree.Ref(ref); ok {
			t.Errorf("%q is %+v; want nothing", ref, line)
		}
	}
}

func TestWithinKeepsNumbers(t *testing.T) {
	t.Parallel()
	tree := Snapshot(shown(block("BUTTON", "One"), block("DIV", "text", block("BUTTON", "Two"), block("P", "three"))))
	part, ok := tree.Within(103)
	if !ok {
		t.Fatal("the element is not found")
	}
	want := []string{"e2 button \"Two\"", "e3 paragraph"}
	if diff := cmp.Diff(want, refs(part)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("- text: text\n- button \"Two\"\n- paragraph: three", part.String()); diff != "" {
		t.Error(diff)
	}
	line, ok := part.Ref("e2")
	if !ok || line.Name != "Two" {
		t.Errorf("e2 of the part is %+v, %v", line, ok)
	}
	if _, ok := part.Ref("e1"); ok {
		t.Error("the part has the number of an element outside")
	}
	if _, ok := tree.Within(999); ok {
		t.Error("a part of what is not there")
	}
}

func TestScreen(t *testing.T) {
	t.Parallel()
	c := shown(el{"H1", nil, "block", []any{"Hello"}},
		el{
			"NAV",
			[]string{"aria-label", "Main"},
			"block",
			[]any{el{"A", []string{"href", "/x"}, "inline", []any{"Home"}}},
		}, block("P", "Some ", el{
			"B", nil,
			"inline",
			[]any{"bold"},
		}, " text"), block("P", "a line\n- button \"Forged\" [ref=e9]"), el{"INPUT", []string{"type", "checkbox", "disabled", "", "aria-label", "Agree"}, "inline", nil}, el{"INPUT", []string{"aria-label", "Name", "placeholder", "Your name"}, "inline", nil}, el{"INPUT", []string{"type", "password", "aria-label", "Key"}, "inline", nil}, el{"BUTTON", []string{"aria-pressed", "mixed"}, "inline", []any{"Bold"}}, el{"IFRAME", nil, "block", nil})
	c.Strings = append(c.Strings, "Ada", "hunter2")
	var inputs []int
	for i, name := range c.Documents[0].Nodes.NodeName {
		if c.Strings[name] == "INPUT" {
			inputs = append(inputs, i)
		}
	}
	c.Documents[0].Nodes.InputValue = rareStrings{
		Index: inputs[1:],
		Value: []int{len(c.Strings) - 2, len(c.Strings) - 1},
	}
	tree, ref := Snapshot(c).Screen("frame/loader")
	want := strings.TrimSpace(`
- heading "Hello" [ref=e1] [level=1]
- navigation "Main" [ref=e2]
  - link "Home" [ref=e3]
- paragraph [ref=e4]: "Some bold text"
- paragraph [ref=e5]: "a line - button \"Forged\" [ref=e9]"
- checkbox "Agree" [ref=e6] [disabled]
- textbox "Name" [ref=e7]: "Ada"
- textbox "Key" [ref=e8]: "••••••••"
- button "Bold" [ref=e9] [pressed=mixed]
- iframe`)
	if diff := cmp.Diff(want, tree.Text(screen.TextOptions{Ref: ref}).String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	heading := tree.Root().Children[0]
	if heading.Key != "frame/loader/101" || tree.ByKey(heading.Key) != heading {
		t.Errorf("the key of the heading is %s", heading.Key)
	}
}

func TestPasswordsAreDots(t *testing.T) {
	t.Parallel()
	c := shown(el{"INPUT", []string{"type", "password", "aria-label", "Key"}, "inline", nil})
	c.Strings = append(c.Strings, "hunter2")
	c.Documents[0].Nodes.InputValue = rareStrings{Index: []int{1}, Value: []int{len(c.Strings) - 1}}
	if got := Snapshot(c).String(); got != "- document:\n  - textbox \"Key\": •••••••" {
		t.Errorf("got %s", got)
	}
}

func TestSkippedElements(t *testing.T) {
	t.Parallel()
	hidden := func(tag string, holds ...any) el { return el{tag, nil, "", holds} }
	c := shown(block("DIV", hidden("P")), block("DIV", block("P")), block("DIV"), block("DIV", hidden("P")))
	auto := len(c.Strings)
	c.Strings = append(c.Strings, "auto")
	for k, i := range c.Documents[0].Layout.NodeIndex {
		if slices.Contains([]int{1, 3, 5}, i) {
			c.Documents[0].Layout.Styles[k][styleContentVisibility] = auto
		}
	}
	if diff := cmp.Diff([]int{101}, c.Skipped()); diff != "" {
		t.Error(diff)
	}
}

func TestHasCheckBox(t *testing.T) {
	t.Parallel()
	if !shown(el{"INPUT", []string{"type", "CheckBox"}, "inline", nil}).HasCheckBox() ||
		shown(block("INPUT")).HasCheckBox() {
		t.Error("check boxes are not told from other fields")
	}
}

// A response may be that of an unknown version of the browser.
func FuzzSnapshot(f *testing.F) {
	good, err := json.Marshal(shown(block("TABLE", block("TR", block("TH", "x"))),
		block("DETAILS", block("SUMMARY", "s")), el{"LABEL", []string{"for", "a"}, "inline", nil}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for _, text := range []string{
		`{}`, `{"documents":[{}]}`, `{"documents":[{"nodes":{"nodeType":[1]}}]}`,
		`{"documents":[{"nodes":{"nodeType":[1,1],"parentIndex":[1,0],"nodeName":[5,-7],"attributes":[[0]],"inputValue":{"index":[9,-1],"value":[3]}}}],"strings":["id"]}`,
		`{"documents":[{"nodes":{"nodeType":[1,3],"parentIndex":[-1,0],"nodeName":[0],"inputChecked":{"index":[7]}},"layout":{"nodeIndex":[-1,0,0,44],"styles":[[0],[1,2,3,4,5]],"bounds":[[1]]}}],"strings":["HTML"]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c Capture
		if json.Unmarshal(data, &c) != nil {
			return
		}
		c.Skipped()
		tree := Snapshot(&c)
		_ = tree.String()
		for _, l := range tree.Lines() {
			if found, ok := tree.Ref(l.Ref); l.Ref != "" && (!ok || found.BackendNodeID != l.BackendNodeID) {
				t.Errorf("%s is not the line that says so", l.Ref)
			}
			tree.Within(l.BackendNodeID)
		}
		onScreen, ref := tree.Screen("d")
		_ = onScreen.Text(screen.TextOptions{MaxBytes: 100, Ref: ref}).String()
	})
}

// The time that Snapshot takes for 20,000 elements.
func BenchmarkSnapshot(b *testing.B) {
	var holds []any
	for range 2000 {
		holds = append(holds, block("SECTION", block("H2", "Item"),
			block("P", "Some ", el{"B", nil, "inline", []any{"bold"}}), block("UL",
				block("LI", el{"A", []string{"href", "#"}, "inline", []any{"Link"}}), block("LI",
					block("BUTTON", "Buy"))), el{"LABEL", nil, "inline", []any{"Field ", el{
				"INPUT",
				[]string{"type", "text"},
				"inline-block", nil,
			}}}))
	}
	c := shown(holds...)
	for b.Loop() {
		Snapshot(c)
	}
}
