package screen_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// keyed returns an element with a key; a text for role text.
func keyed(key, role, name string, children ...*screen.Node) *screen.Node {
	n := &screen.Node{Key: screen.Key(key), Role: role, Children: children}
	switch {
	case role == "text":
		n.Key, n.Text = "", &name
	case name != "":
		n.Label = &name
	}
	return n
}

// row returns a row with a cell and a button.
func row(key, name string) *screen.Node {
	return keyed(key, "row", name, keyed(key+".cell", "cell", name), keyed(key+".button", "button", "Delete"))
}

func TestChanges(t *testing.T) {
	t.Parallel()
	checkbox := func(on screen.Toggle) *screen.Node {
		n := keyed("c", "checkbox", "Terms")
		n.Checked = on
		return n
	}
	for name, tt := range map[string]struct {
		before, after []*screen.Node
		want          string
	}{
		"nothing":   {[]*screen.Node{row("1", "Ann")}, []*screen.Node{row("1", "Ann")}, "nothing on the screen changed"},
		"no screen": {nil, nil, "nothing on the screen changed"},
		"a row is inserted": {
			[]*screen.Node{row("1", "Ann"), row("2", "Bob"), row("3", "Cy")},
			[]*screen.Node{row("1", "Ann"), row("9", "New"), row("2", "Bob"), row("3", "Cy")},
			"+ - row \"New\" [ref=e10]\n+   - cell \"New\" [ref=e11]\n+   - button \"Delete\" [ref=e12]",
		},
		"a row is removed": {
			[]*screen.Node{row("1", "Ann"), row("2", "Bob"), row("3", "Cy")},
			[]*screen.Node{row("1", "Ann"), row("3", "Cy")},
			"- - row \"Bob\" [ref=e4] (with 2 elements in it)",
		},
		"a button in a row is removed": {
			[]*screen.Node{keyed("1", "row", "Ann", keyed("2", "button", "Delete"))},
			[]*screen.Node{keyed("1", "row", "Ann")},
			"- - button \"Delete\" [ref=e2]",
		},
		"state and name": {
			[]*screen.Node{checkbox(""), keyed("b", "button", "Play"), keyed("x", "button", "Stay")},
			[]*screen.Node{checkbox(screen.ToggleOn), keyed("b", "button", "Pause"), keyed("x", "button", "Stay")},
			"~ - checkbox \"Terms\" [ref=e1] [checked]\n~ - button \"Pause\" [ref=e2]",
		},
		"texts": {
			[]*screen.Node{keyed("b", "button", "B"), keyed("", "text", "one"), keyed("", "text", "one"), keyed("", "text", "two")},
			[]*screen.Node{keyed("b", "button", "B"), keyed("", "text", "one"), keyed("", "text", "three")},
			"+ - text: \"three\"\n- - text: \"one\"\n- - text: \"two\"",
		},
		"rendered again": {
			[]*screen.Node{keyed("h", "heading", "Cart"), keyed("l", "list", "", keyed("b", "button", "Pay"), keyed("", "text", "two"))},
			[]*screen.Node{keyed("h", "heading", "Cart"), keyed("l2", "list", "", keyed("b2", "button", "Pay"), keyed("", "text", "two"))},
			"nothing on the screen changed",
		},
		"rendered again with another state": {
			[]*screen.Node{keyed("h", "heading", "Cart"), checkbox("")},
			[]*screen.Node{keyed("h", "heading", "Cart"), func() *screen.Node {
				box := checkbox(screen.ToggleOn)
				box.Key = "again"
				return box
			}()},
			"~ - checkbox \"Terms\" [ref=e3] [checked]",
		},
		"rendered again, several with the name": {
			[]*screen.Node{keyed("h", "heading", "Cart"), keyed("a", "button", "Delete"), keyed("b", "button", "Delete")},
			[]*screen.Node{keyed("h", "heading", "Cart"), keyed("a2", "button", "Delete"), keyed("b2", "button", "Delete")},
			"+ - button \"Delete\" [ref=e4]\n+ - button \"Delete\" [ref=e5]\n- - button \"Delete\" [ref=e2]\n- - button \"Delete\" [ref=e3]",
		},
		"several equal ones removed": {
			[]*screen.Node{keyed("h", "heading", "Cart"), keyed("a", "button", "Delete"), keyed("b", "button", "Delete")},
			[]*screen.Node{keyed("h", "heading", "Cart")},
			"- - button \"Delete\" [ref=e2]\n- - button \"Delete\" [ref=e3]",
		},
		"several equal lines": {
			[]*screen.Node{keyed("h", "heading", "Cart")},
			[]*screen.Node{keyed("h", "heading", "Cart"), keyed("", "text", "new"), keyed("", "text", "new")},
			"+ - text: \"new\" (2 times)",
		},
		"another takes the name": {
			[]*screen.Node{keyed("a", "button", "Delete"), keyed("b", "button", "Keep")},
			[]*screen.Node{keyed("b", "button", "Delete")},
			"~ - button \"Delete\" [ref=e2]\n- - button \"Delete\" [ref=e1]",
		},
		"reordered": {
			[]*screen.Node{keyed("a", "button", "A"), keyed("b", "button", "B")},
			[]*screen.Node{keyed("b", "button", "B"), keyed("a", "button", "A")},
			"only the order of the elements changed",
		},
		"moved into another": {
			[]*screen.Node{keyed("a", "button", "A"), keyed("b", "group", "B")},
			[]*screen.Node{keyed("b", "group", "B", keyed("a", "button", "A"))},
			"only the order of the elements changed",
		},
		"everything, in the same document": {
			[]*screen.Node{keyed("a", "button", "A")},
			[]*screen.Node{keyed("b", "button", "B")},
			"+ - button \"B\" [ref=e2]\n- - button \"A\" [ref=e1]",
		},
		"all removed": {[]*screen.Node{row("1", "Ann")}, nil, "- - row \"Ann\" [ref=e1] (with 2 elements in it)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refs := &screen.References{}
			if got := screen.Changes(viewOf(refs, "u", "d", tt.before), viewOf(refs, "u", "d", tt.after), 0); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// viewOf is a view of a document with elements.
func viewOf(refs *screen.References, url, document string, elements []*screen.Node) screen.View {
	tree := screen.NewTree(&screen.Node{Key: screen.Key(document), Role: "generic", Children: elements}, 0, 0, screen.Web)
	refs.See(tree)
	return screen.View{URL: url, Tree: tree, Ref: refs.Ref}
}

func TestChangesToAnotherDocument(t *testing.T) {
	t.Parallel()
	refs := &screen.References{}
	one := viewOf(refs, "https://shop.example/", "d1", []*screen.Node{keyed("1", "button", "Buy")})
	two := viewOf(refs, "https://shop.example/\"cart\n", "d2", []*screen.Node{keyed("2", "heading", "Cart"), keyed("3", "button", "Pay")})
	for name, tt := range map[string]struct {
		before, after screen.View
		size          int
		want          string
	}{
		"whole":   {one, two, 0, "the page is now \"https://shop.example/\\\"cart\"\n- heading \"Cart\" [ref=e2]\n- button \"Pay\" [ref=e3]"},
		"no room": {one, two, 94, "the page is now \"https://shop.example/\\\"cart\", a part of its 2 elements; see snapshot"},
		"reloaded": {
			one, viewOf(refs, one.URL, "d3", []*screen.Node{keyed("4", "button", "Buy")}), 0,
			"the page is now \"https://shop.example/\"\n- button \"Buy\" [ref=e4]",
		},
		"answered with an error": {
			one,
			screen.View{URL: two.URL, Tree: two.Tree, Ref: two.Ref, Status: "500 Internal Server Error"},
			0,
			"the page is now \"https://shop.example/\\\"cart\", answered with 500 Internal Server Error\n- heading \"Cart\" [ref=e2]\n- button \"Pay\" [ref=e3]",
		},
		"blank":      {one, viewOf(refs, "about:blank", "d4", nil), 0, "the page is now \"about:blank\""},
		"from blank": {screen.View{URL: "about:blank", Tree: screen.NewTree(nil, 0, 0)}, one, 0, "the page is now \"https://shop.example/\"\n- button \"Buy\" [ref=e1]"},
		"without a URL": {
			screen.View{Tree: screen.NewTree(nil, 0, 0)},
			viewOf(refs, "", "d1", []*screen.Node{keyed("1", "button", "Buy")}), 0,
			"the screen is now another one\n- button \"Buy\" [ref=e1]",
		},
		"same document": {
			one, viewOf(refs, "https://shop.example/#2", "d1", []*screen.Node{keyed("1", "button", "Buy")}), 0,
			"the URL is now \"https://shop.example/#2\"",
		},
	} {
		if got := screen.Changes(tt.before, tt.after, tt.size); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}

func TestChangesAreBounded(t *testing.T) {
	t.Parallel()
	refs := &screen.References{}
	var rows []*screen.Node
	for i := range 100 {
		rows = append(rows, row(fmt.Sprint(i), fmt.Sprintf("Row %d", i)))
	}
	before, after := viewOf(refs, "u", "d", rows[:1]), viewOf(refs, "u", "d", rows)
	for _, size := range []int{30, 100, 101, 102, 1000} {
		got := screen.Changes(before, after, size)
		lines := strings.Split(got, "\n")
		want := fmt.Sprintf("… %d more changes", 297-len(lines)+1)
		if len(got) > size || lines[len(lines)-1] != want {
			t.Errorf("%d bytes of %d, which end with %s, want %s", len(got), size, lines[len(lines)-1], want)
		}
	}
}

// changeForm is the form of every line of changes.
var changeForm = regexp.MustCompile(`^(?:[+~-] (?:  )*- [A-Za-z]+(?:: "(?:[^"\\]|\\["\\])*"|(?: "(?:[^"\\]|\\["\\])*")?(?: \[ref=e[0-9]+\])?` +
	`(?: \[[a-z]+(?:=[a-z0-9]+)?\])*(?:: "(?:[^"\\]|\\["\\])*")?)(?: \(with [0-9]+ elements? in it\))?(?: \(no longer [a-z, ]+\))?(?: \([0-9]+ times\))?` +
	`|the URL is now "(?:[^"\\]|\\["\\])*"|nothing on the screen changed|only the order of the elements changed)$`)

func TestChangesCannotBeForged(t *testing.T) {
	t.Parallel()
	for _, a := range hostile() {
		for _, b := range hostile() {
			refs := &screen.References{}
			before := viewOf(refs, "u", "d", []*screen.Node{keyed("1", "button", a), keyed("", "text", a), keyed("2", "link", "x")})
			after := viewOf(refs, a, "d", []*screen.Node{keyed("1", "button", b), keyed("", "text", b), keyed("3", "link", "x")})
			for line := range strings.SplitSeq(screen.Changes(before, after, 0), "\n") {
				if !changeForm.MatchString(line) {
					t.Errorf("%q to %q: the line %q is not in the form", a, b, line)
				}
			}
		}
	}
}

// TestChangesOfRandomScreens checks that a reader who knows the screen before knows how to refer to every element
// after: it is on a line of the changes, or it was there before as it is, or a reference from before finds it.
func TestChangesOfRandomScreens(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		refs := &screen.References{}
		var nodes []*screen.Node
		for i := range random.IntN(8) {
			nodes = append(nodes, row(fmt.Sprint(i), fmt.Sprint("Name ", random.IntN(4))))
		}
		before := viewOf(refs, "u", "d", nodes)
		known := map[string]string{} // line by reference
		for _, line := range before.Tree.Text(screen.TextOptions{Ref: refs.Ref}).Lines {
			known[line.Ref] = line.Text
		}
		nodes = slices.Clone(nodes)
		for range random.IntN(4) {
			i := random.IntN(len(nodes) + 1)
			switch at := min(i+1, len(nodes)); random.IntN(3) {
			case 0:
				nodes = slices.Insert(nodes, i, row(fmt.Sprint("new", random.IntN(1000)), fmt.Sprint("Name ", random.IntN(4))))
			case 1:
				nodes = slices.Delete(nodes, i, at)
			default:
				random.Shuffle(len(nodes), func(a, b int) { nodes[a], nodes[b] = nodes[b], nodes[a] })
			}
		}
		after := viewOf(refs, "u", "d", nodes)
		changes := screen.Changes(before, after, 0)
		found := func(line screen.Line) bool {
			for ref, text := range known {
				was, is := strings.Replace(text, "[ref="+ref+"]", "", 1), strings.Replace(line.Text, "[ref="+line.Ref+"]", "", 1)
				if ref == "" || was != is {
					continue
				}
				if again, err := refs.Lookup(ref, after.Tree, screen.ToRead); err == nil && again.Node == line.Node {
					return true
				}
			}
			return false
		}
		for _, line := range after.Tree.Text(screen.TextOptions{Ref: refs.Ref}).Lines {
			if line.Ref != "" && known[line.Ref] != line.Text && !strings.Contains(changes, line.Text) && !found(line) {
				t.Fatalf("%s is not in the changes:\n%s", line.Text, changes)
			}
			if known[line.Ref] == line.Text && strings.Contains(changes, "[ref="+line.Ref+"]") {
				t.Fatalf("%s did not change:\n%s", line.Text, changes)
			}
		}
	}
}

func TestLostStatesAreShown(t *testing.T) {
	t.Parallel()
	refs := &screen.References{}
	box := func(on screen.Toggle, disabled bool) *screen.Node {
		n := keyed("c", "checkbox", "Terms")
		n.Checked, n.Disabled = on, disabled
		return n
	}
	before := viewOf(refs, "u", "d", []*screen.Node{box("true", true)})
	for _, tt := range []struct {
		after *screen.Node
		want  string
	}{
		{box("", false), `~ - checkbox "Terms" [ref=e1] (no longer checked, disabled)`},
		{box("mixed", true), `~ - checkbox "Terms" [ref=e1] [checked=mixed] [disabled]`},
		{box("true", false), `~ - checkbox "Terms" [ref=e1] [checked] (no longer disabled)`},
	} {
		if got := screen.Changes(before, viewOf(refs, "u", "d", []*screen.Node{tt.after}), 0); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestImportantChangesAreKept(t *testing.T) {
	t.Parallel()
	refs := &screen.References{}
	cart := keyed("cart", "link", "Cart")
	before := viewOf(refs, "u", "d", []*screen.Node{row("0", "Old"), cart})
	var rows []*screen.Node
	for i := range 100 {
		rows = append(rows, row(fmt.Sprint("new", i), fmt.Sprintf("Row %d", i)))
	}
	after := viewOf(refs, "u", "d", append(rows, keyed("cart", "link", "Cart (1)"), keyed("s", "status", "Saved")))
	got := screen.Changes(before, after, 300)
	for _, want := range []string{`+ - row "Row 0"`, `~ - link "Cart (1)"`, `+ - status "Saved"`, " more changes"} {
		if len(got) > 300 || !strings.Contains(got, want) {
			t.Errorf("%s is missing in %d bytes:\n%s", want, len(got), got)
		}
	}
}

func TestOutlineOfALongPage(t *testing.T) {
	t.Parallel()
	refs := &screen.References{}
	price := "12.50 €"
	var links, products []*screen.Node
	for i := range 10 {
		links = append(links, keyed(fmt.Sprint("l", i), "link", fmt.Sprintf("Department %d", i)))
		name := fmt.Sprintf("Product %d", i)
		products = append(products, keyed(fmt.Sprint("p", i), "listitem", "",
			keyed(fmt.Sprint("h", i), "heading", name, keyed(fmt.Sprint("a", i), "link", name)),
			keyed("", "text", price), keyed(fmt.Sprint("b", i), "button", "Add "+name)))
	}
	page := viewOf(refs, "u", "d", []*screen.Node{
		keyed("nav", "navigation", "", links...),
		keyed("main", "main", "", append([]*screen.Node{keyed("h", "heading", "Products"), keyed("c", "cell", "Ten of them")}, products...)...),
	})
	blank := screen.View{URL: "about:blank", Tree: screen.NewTree(nil, 0, 0)}
	for size, want := range map[int][]string{
		1100: {`, a part of its 64 elements; see snapshot`, `- cell "Ten of them"`, `- heading "Products" [ref=e`, `- link "Product 9"`, `- button "Add Product 9"`, `Department 0`},
		700:  {`Product 0`, `- button "Add Product 5"`},
	} {
		got := screen.Changes(blank, page, size)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%d: %s is missing in\n%s", size, text, got)
			}
		}
		if len(got) > size || strings.Contains(got, "navigation") || strings.Contains(got, `heading "Product 1"`) ||
			strings.Contains(got, "Department") != (size == 1100) {
			t.Errorf("%d: %d bytes:\n%s", size, len(got), got)
		}
	}
}

func TestOutlineOfAPageThatAnswersItsForm(t *testing.T) {
	t.Parallel()
	refs := &screen.References{}
	page := func(document string, messages ...*screen.Node) screen.View {
		var fields []*screen.Node
		for i := range 30 {
			fields = append(fields, keyed(fmt.Sprint(document, i), "textbox", fmt.Sprintf("Setting number %d", i)))
		}
		heading := keyed(document+"h", "heading", "Settings")
		return viewOf(refs, "https://shop.example/settings", document,
			append([]*screen.Node{keyed(document+"m", "main", "", append([]*screen.Node{heading}, fields...)...)}, messages...))
	}
	saved := keyed("n", "paragraph", "", keyed("s", "strong", "", keyed("", "text", "Your settings were saved.")))
	got := screen.Changes(page("d1"), page("d2", saved), 500)
	if !strings.Contains(got, "Your settings were saved.") || !strings.Contains(got, "Setting number 3") || len(got) > 500 {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
	blank := screen.View{URL: "about:blank", Tree: screen.NewTree(nil, 0, 0)}
	if got := screen.Changes(blank, page("d3", saved), 500); strings.Contains(got, "saved") {
		t.Errorf("the message is not news on a page of which nothing was known:\n%s", got)
	}
}

func TestOutlineHasTheFirstTextsOfThePage(t *testing.T) {
	t.Parallel()
	refs := &screen.References{}
	main := []*screen.Node{keyed("h", "heading", "Settings"), keyed("s", "text", "Settings saved.")}
	for i := range 30 {
		name := fmt.Sprintf("Setting number %d", i)
		main = append(main, keyed(fmt.Sprint("f", i), "textbox", name), keyed(fmt.Sprint("t", i), "text", "What it is for: "+name))
	}
	page := viewOf(refs, "u", "d", []*screen.Node{keyed("m", "main", "", main...)})
	got := screen.Changes(screen.View{URL: "about:blank", Tree: screen.NewTree(nil, 0, 0)}, page, 500)
	if !strings.Contains(got, "Settings saved.") || strings.Contains(got, "number 3\"\n- text") {
		t.Errorf("got\n%s", got)
	}
}
