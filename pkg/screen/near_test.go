package screen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// shop is a page with some elements that are alike.
func shop() *screen.Tree {
	return page("1 button Add to cart", "2 button Add to wishlist", "3 link Cart", "4 textbox Search products", "5 heading Shoes",
		"6 button Pay now", "7 generic", "8 button Pay now", "9 checkbox Remember me")
}

func TestNearMatches(t *testing.T) {
	t.Parallel()
	tree := shop()
	for text, want := range map[string]string{
		`{"web": {"ariaRole": "button", "ariaNameRegex": "Add to card"}}`: `button "Add to cart"`,
		`{"web": {"ariaRole": "button", "ariaNameRegex": "Add"}}`:         `button "Add to cart", button "Add to wishlist"`,
		`{"web": {"ariaRole": "link", "ariaNameRegex": "CART"}}`:          `link "Cart", button "Add to cart"`,
		`{"web": {"ariaNameRegex": "Pay \\d+"}}`:                          `button "Pay now"`,
		`{"web": {"ariaRole": "checkbox"}}`:                               `checkbox "Remember me"`,
		`{"web": {"ariaNameRegex": "Unlike anything"}}`:                   "",
		`{"web": {"cssSelector": "#a"}}`:                                  "",
		`{"web": {"nthIndex": 3}}`:                                        "",
		`{"index": 100}`:                                                  "",
	} {
		if got := screen.Describe(tree.Near(selector(t, text)), nil); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := screen.Describe(tree.NearText("search"), nil); got != `textbox "Search products"` {
		t.Errorf("text: %s", got)
	}
	android := contacts()
	if got := screen.Describe(android.Near(selector(t, `{"iosMaestro": {"resourceIdRegex": "Rows"}}`)), nil); got != `generic "Ada", generic "Ada Lovelace"` {
		t.Errorf("id: %s", got)
	}
}

func TestNearMatchesAreBounded(t *testing.T) {
	t.Parallel()
	var elements []string
	for i := range 5000 {
		elements = append(elements, fmt.Sprintf("%d button Row %d %s", i, i, strings.Repeat("x", 200)))
	}
	tree := page(elements...)
	near := tree.NearText("Row 17")
	if len(near) != 5 {
		t.Errorf("%d elements", len(near))
	}
	if got := screen.Describe(tree.Nodes()[1:9], nil); !strings.HasSuffix(got, ", 3 more") || len(got) > 5*150 {
		t.Errorf("%s", got)
	}
	if got := screen.Describe(tree.Nodes()[1:2], func(*screen.Node) string { return "e7" }); !strings.HasSuffix(got, `…" [ref=e7]`) {
		t.Errorf("%s", got)
	}
}

func TestPasswordsAreNotNear(t *testing.T) {
	t.Parallel()
	field := &screen.Node{Class: new("android.widget.EditText"), Text: new("hunter2"), States: screen.States{Password: true}}
	tree := screen.NewTree(&screen.Node{Children: []*screen.Node{field}}, 9, 9, screen.AndroidAccessibility)
	if near := tree.NearText("hunter"); len(near) != 0 {
		t.Errorf("%v", near)
	}
	if near := tree.Near(selector(t, `{"androidAccessibility": {"textRegex": "hunter3"}}`)); len(near) != 0 {
		t.Errorf("%v", near)
	}
}

func TestExplanations(t *testing.T) {
	t.Parallel()
	tree := shop()
	button := `"web": {"ariaRole": "button", "ariaNameRegex": "Pay now"}`
	for text, want := range map[string]string{
		"{" + button + "}":                                           "",
		"{" + button + `, "index": 2}`:                               "index 2, counting from 0, needs 3 matches; the screen has 2",
		`{"web": {"ariaRole": "button"}}`:                            "",
		`{"web": {"ariaRole": "link", "ariaNameRegex": "Pay now"}}`:  `nothing matches link "Pay now"; without ariaRole it would be 2 elements`,
		`{"web": {"ariaRole": "slider", "ariaNameRegex": "Volume"}}`: `nothing matches slider "Volume"`,
		`{"web": {"ariaNameRegex": "Volume"}}`:                       `nothing matches element "Volume"`,
		`{"web": {"ariaNameRegex": "Pay now", "nthIndex": 2}}`:       "nthIndex 2, counting from 0, needs 3 matches; the screen has 2",
		"{" + button + `, "childOf": {"web": {"ariaRole": "row"}}}`:  `nothing matches row, which "childOf" needs`,
		"{" + button + `, "childOf": {"web": {"ariaNameRegex": "Shoes"}}}`: `nothing matches button "Pay now" inside element "Shoes"; ` +
			"without the relations it would be 2 elements",
		`{"iosAxe": {}}`: "the selector has the driver block iosAxe, but this screen answers to web",
		`{"containsDescendants": [{"web": {"ariaRole": "link"}}, {"web": {"ariaRole": "row"}}]}`: `nothing matches row, which ` +
			`"containsDescendants" needs`,
		`{"containsChild": {"index": 1}, "childOf": {"web": {"ariaRole": "link"}}}`: "nothing matches element inside link with the child " +
			"element, index 1",
	} {
		if got := tree.Explain(selector(t, text)); got != want {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
	}
}
