package screen_test

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// table is a page with a table of people, each with a button.
func table(names ...string) *screen.Tree {
	t := element("table", "People")
	for _, name := range names {
		button := keyed(name+".button", "button", "Delete")
		t.Children = append(t.Children,
			keyed(name, "row", name+" Delete", element("cell", name), keyed(name+".cell", "cell", "Delete", button)))
	}
	return screen.NewTree(element("main", "", element("group", "", t), element("button", "Add")), 0, 0, screen.Web)
}

func TestFind(t *testing.T) {
	t.Parallel()
	shop := screen.NewTree(element("main", "Shop", element("group", "", element("button", "Add to cart"), element("link", "Cart  (2)")),
		with(element("textbox", "Search"), func(n *screen.Node) { n.Value = new("CARTOON") }), element("button", `Pay "now"`)), 0, 0, screen.Web)
	people := table("Ann", "Bob")
	long := screen.NewTree(element("region", strings.Repeat("long ", 30), element("button", "Go")), 0, 0, screen.Web)
	for name, tt := range map[string]struct {
		tree  *screen.Tree
		query string
		size  int
		want  string
	}{
		"in any case, with ancestors": {
			shop, "cart", 0,
			`- main "Shop"
  - button "Add to cart" [ref=e1]
  - link "Cart (2)" [ref=e2]
  - textbox "Search" [ref=e3]: "CARTOON"`,
		},
		"white space": {shop, " cart  (2", 0, "- main \"Shop\"\n  - link \"Cart (2)\" [ref=e2]"},
		"role and name": {
			people, `button "del`, 0,
			`- table "People"
  - row "Ann Delete" [ref=e1]
    - cell "Delete" [ref=e3]
      - button "Delete" [ref=e4]
  - row "Bob Delete" [ref=e5]
    - cell "Delete" [ref=e7]
      - button "Delete" [ref=e8]`,
		},
		"a reference": {
			people, "e2", 0,
			"- table \"People\"\n  - row \"Ann Delete\" [ref=e1]\n    - cell \"Ann\" [ref=e2]\n    - cell \"Delete\" [ref=e3]\n      - button \"Delete\" [ref=e4]",
		},
		"a text in a row, with the controls of the row": {
			people, `cell "bob`, 0,
			`- table "People"
  - row "Bob Delete" [ref=e5]
    - cell "Bob" [ref=e6]
    - cell "Delete" [ref=e7]
      - button "Delete" [ref=e8]`,
		},
		"what is quoted in the line": {shop, `"now"`, 0, "- main \"Shop\"\n  - button \"Pay \\\"now\\\"\" [ref=e4]"},
		"bounded":                    {shop, "cart", 80, "- main \"Shop\"\n  - button \"Add to cart\" [ref=e1]\n… 2 more elements"},
		"no room":                    {shop, "cart", 20, "… 3 more elements"},
		"a long ancestor": {
			long, "go", 0, "- region \"long long long long long long long long…\"\n  - button \"Go\" [ref=e1]",
		},
		"nothing":        {shop, "nothing", 0, ""},
		"no part of ref": {shop, "ref", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refs := &screen.References{}
			refs.See(tt.tree)
			found := screen.Find(tt.tree, tt.query, refs.Ref, tt.size)
			if got := found.String(); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestFindHasFewAncestors(t *testing.T) {
	t.Parallel()
	deep := element("button", "innermost")
	for range 100 {
		deep = element("group", "around", deep)
	}
	tree := screen.NewTree(deep, 0, 0, screen.Web)
	if got := screen.Find(tree, "innermost", nil, 0); len(got.Lines) != 5 {
		t.Errorf("%s", got)
	}
	if got := screen.Find(tree, "around", nil, 200); len(got.String()) > 200 || len(got.Lines)+got.Left != 100 {
		t.Errorf("%d bytes, %d lines, %d left:\n%s", len(got.String()), len(got.Lines), got.Left, got)
	}
}
