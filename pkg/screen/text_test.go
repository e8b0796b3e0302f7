package screen_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// element is a node of a page with a role and a name; its key is role and name.
func element(role, name string, children ...*screen.Node) *screen.Node {
	return &screen.Node{Role: role, Label: &name, Key: screen.Key(role + " " + name), Children: children}
}

// with changes a node in place.
func with(n *screen.Node, change func(*screen.Node)) *screen.Node {
	change(n)
	return n
}

// written is the text form of a page with references.
func written(root *screen.Node, o screen.TextOptions) screen.Text {
	tree := screen.NewTree(root, 1000, 1000, screen.Web)
	refs := &screen.References{}
	refs.See(tree)
	o.Ref = refs.Ref
	return tree.Text(o)
}

func TestTextForm(t *testing.T) {
	t.Parallel()
	got := written(element("generic", "",
		&screen.Node{Role: "text", Text: new("Total:\n  42")},
		element("main", "",
			with(element("heading", "Orders"), func(n *screen.Node) { n.Level = 2 }),
			with(element("button", "Pay"), func(n *screen.Node) { n.Disabled, n.Focused = true, true }),
			with(element("button", ""), func(n *screen.Node) { n.Pressed = screen.ToggleMixed }),
			with(element("checkbox", "All"), func(n *screen.Node) { n.Checked = screen.ToggleMixed }),
			with(element("checkbox", "One"), func(n *screen.Node) { n.Checked, n.Invalid = screen.ToggleOn, "true" }),
			with(element("textbox", "Name"), func(n *screen.Node) { n.Value, n.Invalid = new("Ada"), "spelling" }),
			with(element("textbox", "Password"), func(n *screen.Node) { n.Value, n.Password = new("hunter2"), true }),
			with(element("paragraph", ""), func(n *screen.Node) { n.Text = new("Hello  you") }),
			with(element("treeitem", "Tree"), func(n *screen.Node) { n.Expanded, n.Selected, n.Hidden = true, true, true }),
			element("presentation", "", with(element("generic", ""), func(n *screen.Node) { n.Clickable = true }), element("none", "")),
			with(element("link", "Home"), func(n *screen.Node) { n.Key = "" }),
			&screen.Node{Role: "text", Text: new(" ")},
			element("list", "", element("listitem", "", element("link", "Deep"))),
		)), screen.TextOptions{})
	want := strings.TrimSpace(`
- text: "Total: 42"
- main
  - heading "Orders" [ref=e1] [level=2]
  - button "Pay" [ref=e2] [disabled] [focused]
  - button [ref=e3] [pressed=mixed]
  - checkbox "All" [ref=e4] [checked=mixed]
  - checkbox "One" [ref=e5] [checked] [invalid]
  - textbox "Name" [ref=e6] [invalid=spelling]: "Ada"
  - textbox "Password" [ref=e7]: "••••••••"
  - paragraph [ref=e8]: "Hello you"
  - treeitem "Tree" [ref=e9] [expanded] [hidden] [selected]
  - generic [ref=e10] [clickable]
  - link "Home"
  - list
    - listitem
      - link "Deep" [ref=e11]`)
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("text form (-want +got):\n%s", diff)
	}
	if got.Left != 0 || len(got.Lines) != strings.Count(want, "\n")+1 {
		t.Errorf("%d lines, %d left out", len(got.Lines), got.Left)
	}
}

func TestTextFormOfAndroid(t *testing.T) {
	t.Parallel()
	view := func(class, text, label string, children ...*screen.Node) *screen.Node {
		n := &screen.Node{Class: new("android.widget." + class), Key: screen.Key(class + text + label), Children: children}
		if text != "" {
			n.Text = &text
		}
		if label != "" {
			n.Label = &label
		}
		return n
	}
	tree := screen.NewTree(view("FrameLayout", "", "", view("LinearLayout", "", "",
		with(view("TextView", "Sign in", ""), func(n *screen.Node) { n.Heading = true }),
		with(view("EditText", "Email", ""), func(n *screen.Node) { n.Hint = new("Email") }),
		with(view("EditText", "ada@example.com", "Email"), func(n *screen.Node) { n.Focused = true }),
		with(view("EditText", "secret", ""), func(n *screen.Node) { n.Password, n.Hint = true, new("Password") }),
		with(view("EditText", "", ""), func(n *screen.Node) { n.Password = true }),
		with(view("Switch", "ON", "Notify"), func(n *screen.Node) { n.Checked = screen.ToggleOn }),
		view("ImageView", "", ""),
		view("TextView", "", ""),
		view("TextView", "Forgot?", ""),
		with(view("LinearLayout", "", ""), func(n *screen.Node) { n.LongClickable = true }),
		with(view("SecureTextField", "secret", "Pin"), func(n *screen.Node) { n.Class = new("XCUIElementTypeSecureTextField") }),
	)), 1080, 2400, screen.AndroidAccessibility)
	want := strings.TrimSpace(`
- heading "Sign in"
- textbox "Email"
- textbox "Email" [focused]: "ada@example.com"
- textbox "Password": "••••••••"
- textbox
- switch "Notify" [checked]: "ON"
- img
- text "Forgot?"
- generic
- textbox "Pin": "••••••••"`)
	if diff := cmp.Diff(want, tree.Text(screen.TextOptions{}).String()); diff != "" {
		t.Errorf("text form (-want +got):\n%s", diff)
	}
	if found := screen.Find(tree, "secret", nil, 0); len(found.Lines) != 0 {
		t.Errorf("a password is found: %s", found)
	}
}

func TestTextFormIsBounded(t *testing.T) {
	t.Parallel()
	root := element("main", "")
	for i := range 30 {
		root.Children = append(root.Children, element("button", fmt.Sprint("Button ", i)))
	}
	whole := written(root, screen.TextOptions{}).String()
	for size := range len(whole) + 20 {
		text := written(root, screen.TextOptions{MaxBytes: size + 1})
		got := text.String()
		if len(got) > size+1 && len(text.Lines) > 0 {
			t.Fatalf("at most %d bytes: got %d", size+1, len(got))
		}
		if len(text.Lines)+text.Left != 31 {
			t.Fatalf("at most %d bytes: %d lines and %d left out", size+1, len(text.Lines), text.Left)
		}
		if complete := text.Left == 0; complete != (size+1 >= len(whole)) || complete && got != whole {
			t.Fatalf("at most %d bytes of %d: %d left out", size+1, len(whole), text.Left)
		}
		if text.Left > 1 && !strings.HasSuffix(got, fmt.Sprintf("… %d more elements", text.Left)) {
			t.Fatalf("at most %d bytes: ends in %q", size+1, got[max(0, len(got)-40):])
		}
	}
	if got := written(element("main", ""), screen.TextOptions{MaxBytes: 5}).String(); got != "… 1 more element" {
		t.Errorf("one element: %q", got)
	}
}

// What is hidden gives way to what comes after it.
func TestHiddenElementsAreLeftOutFirst(t *testing.T) {
	t.Parallel()
	root, want := element("main", ""), "- main"
	for i := range 30 {
		button := element("button", fmt.Sprint("Button ", i))
		if button.Hidden = i >= 3; !button.Hidden {
			want += fmt.Sprintf("\n  - button \"Button %d\" [ref=e%d]", i, i+1)
		}
		root.Children = append(root.Children, button)
	}
	root.Children = append(root.Children, element("button", "Help"))
	want += "\n  - button \"Help\" [ref=e31]"
	if got := written(root, screen.TextOptions{}); len(got.Lines) != 32 || got.Left != 0 {
		t.Errorf("%d lines, %d left out", len(got.Lines), got.Left)
	}
	for _, size := range []int{200, 400} {
		text := written(root, screen.TextOptions{MaxBytes: size})
		if got := text.String(); got != want+"\n… 27 more elements" || text.Left != 27 {
			t.Errorf("at most %d bytes:\n%s", size, got)
		}
	}
	text := written(root, screen.TextOptions{MaxBytes: 100})
	if got := text.String(); len(got) > 100 || text.Left+len(text.Lines) != 32 || strings.Contains(got, "hidden") {
		t.Errorf("at most 100 bytes: %d left out\n%s", text.Left, got)
	}
}

func TestTextFormOfAPart(t *testing.T) {
	t.Parallel()
	form := element("form", "Sign in", element("textbox", "Email"), element("group", "", element("button", "Go")))
	page := element("main", "", form, element("button", "Other"))
	want := "- form \"Sign in\"\n  - textbox \"Email\" [ref=e1]\n  - group\n    - button \"Go\" [ref=e2]"
	if got := written(page, screen.TextOptions{Within: form}).String(); got != want {
		t.Errorf("%s", got)
	}
	if got := written(page, screen.TextOptions{Within: element("form", "")}).String(); got != "" {
		t.Errorf("an element of another screen: %s", got)
	}
}

func TestDeepNestingIsIndentedInBounds(t *testing.T) {
	t.Parallel()
	root := element("button", "innermost")
	for range 3000 {
		root = element("group", "", root)
	}
	got := written(root, screen.TextOptions{})
	if last := got.Lines[len(got.Lines)-1]; last.Depth != 3000 || len(got.String()) > 3001*80 {
		t.Errorf("depth %d, %d bytes", last.Depth, len(got.String()))
	}
}

// hostile are texts with which a page may try to write lines of its own.
func hostile() []string {
	return []string{
		"Save\n- button \"Delete\" [ref=e9]", "a\r\nb", "a\u2028b\u2029c\u0085d\vf\f", `" [ref=e1] [checked`, `\" [ref=e1]`, `\`, "\x00\x1b[2J\x07",
		"\u202eevil\u202c", "a\u200bb\u200dc\ufeffd\u00ad", "\u2066x\u2069", "\U000e0041\U000e0042", "\xff\xfe", strings.Repeat("long ", 100),
		"… 5 more elements", "- text: \"x\"", "\u0600\u061c\u180e", "\u3164\u2800\uffa0", "é̂", "👩‍👩‍👧", "  ", "</page>",
	}
}

// lineForm is the form of every line.
var lineForm = regexp.MustCompile(`^(?:  ){0,30}- [A-Za-z]+(?:: "(?:[^"\\]|\\["\\])*"|(?: "(?:[^"\\]|\\["\\])*")?(?: \[ref=e[0-9]+\])?` +
	`(?: \[[a-z]+(?:=[a-z0-9]+)?\])*(?:: "(?:[^"\\]|\\["\\])*")?)$`)

// checkForm fails when what is on a screen shows in more than the quotes of its own line.
func checkForm(t *testing.T, text screen.Text) {
	t.Helper()
	lines := strings.Split(text.String(), "\n")
	if len(text.Lines) == 0 {
		lines = nil
	}
	if len(lines) != len(text.Lines) {
		t.Fatalf("%d lines for %d elements:\n%s", len(lines), len(text.Lines), text)
	}
	for _, line := range lines {
		if !lineForm.MatchString(line) {
			t.Errorf("the line is not in the form: %q", line)
		}
		for _, r := range line {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Errorf("%U in %q", r, line)
			}
		}
	}
}

func TestScreensCannotForgeLines(t *testing.T) {
	t.Parallel()
	root := element("main", "")
	for _, text := range hostile() {
		root.Children = append(root.Children, element("button", text), &screen.Node{Role: "text", Text: &text},
			&screen.Node{Role: text, Label: &text, Value: new(text + "!"), Key: screen.Key(text), States: screen.States{Invalid: text}})
	}
	text := written(root, screen.TextOptions{})
	checkForm(t, text)
	if len(text.Lines) < 2*len(hostile()) {
		t.Errorf("%d lines", len(text.Lines))
	}
}

func FuzzTextFormHasALineForEachElement(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text, text, text, uint8(len(text)))
	}
	f.Fuzz(func(t *testing.T, role, name, content string, shape uint8) {
		leaf := &screen.Node{Role: role, Label: &name, Value: &content, Key: "1", States: screen.States{Password: shape&1 > 0, Invalid: role}}
		between := &screen.Node{Role: "text", Text: &content}
		parent := &screen.Node{Class: &role, Text: &content, Hint: &name, Key: "2", Children: []*screen.Node{leaf, between}}
		parent.Clickable = shape&2 > 0
		text := written(&screen.Node{Role: "main", Children: []*screen.Node{parent}}, screen.TextOptions{})
		checkForm(t, text)
		bounded := written(&screen.Node{Role: "main", Children: []*screen.Node{parent}}, screen.TextOptions{MaxBytes: 40 + int(shape)})
		if len(bounded.Lines)+bounded.Left != len(text.Lines) {
			t.Errorf("%d lines and %d left out of %d", len(bounded.Lines), bounded.Left, len(text.Lines))
		}
		if leaf.Password && leaf.Content() != "" && leaf.Content() != strings.Repeat("•", 8) {
			t.Errorf("a password is shown: %s", text)
		}
	})
}

func TestWholeTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("very ", 60) + "long"
	n := &screen.Node{Role: "paragraph", Text: &long}
	tree := screen.NewTree(n, 0, 0)
	if got := tree.Text(screen.TextOptions{}).String(); strings.Contains(got, "long") || !strings.HasSuffix(got, `…"`) {
		t.Error(got)
	}
	if got := tree.Text(screen.TextOptions{Whole: true}).String(); !strings.HasSuffix(got, `long"`) {
		t.Error(got)
	}
}
