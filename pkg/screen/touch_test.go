package screen_test

import (
	"testing"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// placed returns a node with a text, whose test tag is that text, too.
func placed(name string, place [4]int, change func(*screen.Node), children ...*screen.Node) *screen.Node {
	n := cell(name, name, "", place, children...)
	if change != nil {
		change(n)
	}
	return n
}

// TestWhatReceivesATouch touches the middle of the node "target" on screens where others lie above it.
func TestWhatReceivesATouch(t *testing.T) {
	t.Parallel()
	clickable := func(n *screen.Node) { n.Clickable = true }
	button := func(name string, place [4]int, children ...*screen.Node) *screen.Node {
		return placed(name, place, clickable, children...)
	}
	text := func(name string, place [4]int, children ...*screen.Node) *screen.Node {
		return placed(name, place, nil, children...)
	}
	box := func(name string, place [4]int, change func(*screen.Node), children ...*screen.Node) *screen.Node {
		return node(name, place, change, children...)
	}
	middle, all := [4]int{20, 180, 80, 220}, [4]int{0, 0, 100, 400}
	page := func(children ...*screen.Node) *screen.Node {
		class := "android.webkit.WebView"
		return box("page", all, func(n *screen.Node) { n.Class = &class }, children...)
	}
	for name, tt := range map[string]struct {
		nodes []*screen.Node
		hit   string
		lost  bool   // the touch does not reach the target
		over  string // what may receive it all the same
	}{
		"alone":                      {[]*screen.Node{button("target", middle)}, "target", false, ""},
		"a text":                     {[]*screen.Node{text("target", middle)}, "target", false, ""},
		"a text in a row":            {[]*screen.Node{button("row", all, text("target", middle))}, "target", false, ""},
		"a box with a button in it":  {[]*screen.Node{box("target", all, nil, button("inner", middle))}, "inner", false, ""},
		"an empty box":               {[]*screen.Node{box("target", middle, nil)}, "", true, ""},
		"below its label":            {[]*screen.Node{button("target", middle), text("label", [4]int{30, 190, 70, 210})}, "target", false, ""},
		"below its icon":             {[]*screen.Node{button("target", middle), box("icon", [4]int{30, 190, 70, 210}, nil)}, "target", false, ""},
		"below a larger text":        {[]*screen.Node{button("target", middle), text("sign", all)}, "target", false, "sign"},
		"below two texts of its row": {[]*screen.Node{button("row", all, text("target", middle), text("price", all))}, "target", false, ""},
		"its label, above it":        {[]*screen.Node{button("button", middle), text("target", [4]int{30, 190, 70, 210})}, "target", false, ""},
		"below the layer of its card": {
			[]*screen.Node{box("card", all, nil, text("target", middle), button("layer", all))}, "layer", false, "",
		},
		"below the layer of its card, in a list": {
			[]*screen.Node{
				button("other", [4]int{0, 0, 100, 50}),
				box("list", all, func(n *screen.Node) { n.Scrollable = true }, box("card", middle, nil, text("target", middle), button("layer", middle))),
			}, "layer", false, "",
		},
		"beside a button above the layer": {
			[]*screen.Node{box("card", all, nil, text("target", middle), button("layer", all), button("like", [4]int{0, 0, 10, 10}))}, "layer", false, "",
		},
		"a button below a layer": {[]*screen.Node{button("target", middle), button("layer", all)}, "layer", true, ""},
		"a text of a row below a layer": {
			[]*screen.Node{button("row", middle, text("target", middle)), button("layer", all)}, "layer", true, "",
		},
		"a text beside a button below a scrim": {
			[]*screen.Node{text("target", middle), button("save", [4]int{0, 300, 100, 340}), button("scrim", all)}, "scrim", true, "",
		},
		"below a button that is smaller": {[]*screen.Node{text("target", middle), button("ad", [4]int{40, 190, 60, 210})}, "ad", true, ""},
		"below a banner that is clickable": {
			[]*screen.Node{text("target", middle), button("banner", [4]int{0, 150, 100, 250}, text("offer", [4]int{0, 180, 80, 220}))}, "banner", true, "offer",
		},
		"below a notice": {
			[]*screen.Node{
				button("target", middle),
				box("notice", [4]int{0, 150, 100, 250}, func(n *screen.Node) { n.Dismissable = true }, text("saved", [4]int{0, 150, 100, 250})),
			}, "notice", true, "saved",
		},
		"below a pane": {
			[]*screen.Node{button("target", middle), box("pane", all, func(n *screen.Node) { n.PaneTitle = new("Filters") })}, "pane", true, "",
		},
		"below a list": {
			[]*screen.Node{button("target", middle), box("list", all, func(n *screen.Node) { n.Scrollable = true })}, "list", true, "",
		},
		"below what is hidden": {
			[]*screen.Node{button("target", middle), box("gone", all, func(n *screen.Node) { n.Clickable, n.Hidden = true, true })}, "target", false, "",
		},
		"below a disabled button": {
			[]*screen.Node{button("target", middle), box("off", all, func(n *screen.Node) { n.Clickable, n.Disabled = true, true })}, "off", true, "",
		},
		"drawn above what comes later": {
			[]*screen.Node{box("target", middle, func(n *screen.Node) { n.Clickable, n.DrawingOrder = true, 2 }), box("ad", all, func(n *screen.Node) { n.Clickable, n.DrawingOrder = true, 1 })},
			"target", false, "",
		},

		"in a page, below the text of a banner":   {[]*screen.Node{page(button("target", middle), text("cookies", [4]int{0, 150, 100, 250}))}, "cookies", true, ""},
		"in a page, below a button":               {[]*screen.Node{page(button("target", middle), button("accept", middle))}, "accept", true, ""},
		"in a page, below its label":              {[]*screen.Node{page(button("target", middle), text("label", [4]int{30, 190, 70, 210}))}, "target", false, ""},
		"in a page, a header above what scrolls":  {[]*screen.Node{page(button("target", [4]int{0, 0, 30, 40}), button("shoes", [4]int{0, 0, 100, 60}))}, "target", false, "shoes"},
		"in a page, a title above what scrolls":   {[]*screen.Node{page(text("target", [4]int{0, 0, 30, 40}), button("shoes", [4]int{0, 0, 100, 60}))}, "target", false, "shoes"},
		"in a page, a header with a button in it": {[]*screen.Node{page(button("target", [4]int{0, 0, 100, 60}), button("close", [4]int{40, 20, 60, 40}))}, "target", false, "close"},
		"in a page, a header after what scrolls":  {[]*screen.Node{page(button("shoes", [4]int{0, 0, 100, 60}), button("target", [4]int{0, 0, 30, 40}))}, "target", false, ""},
		"in a page, below a button of the app":    {[]*screen.Node{page(button("target", [4]int{0, 0, 30, 40})), button("ad", all)}, "ad", true, ""},
		"in a page, below a text of the app":      {[]*screen.Node{page(button("target", middle)), text("sign", all)}, "target", false, "sign"},
		"beside a page":                           {[]*screen.Node{page(text("cookies", all)), button("target", middle)}, "target", false, ""},
		"below a page, on which no element shows": {[]*screen.Node{button("target", middle), page()}, "page", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := screen.NewTree(box("root", all, nil, tt.nodes...), 100, 400, screen.Compose)
			checkTouch(t, tree, tt.hit, !tt.lost, tt.over)
		})
	}
	t.Run("below the text of another window", func(t *testing.T) {
		t.Parallel()
		app, dialog := box("app", all, nil, button("target", middle)), box("dialog", [4]int{0, 100, 100, 300}, nil, text("sure", [4]int{30, 190, 70, 210}))
		tree := screen.NewTree(box("root", all, nil, app, dialog), 100, 400, screen.Compose)
		checkTouch(t, tree, "target", true, "")
		tree.Windows = []screen.Window{{App: "app", Root: dialog}, {App: "app", Root: app}}
		checkTouch(t, tree, "sure", false, "")
	})
}

// Where a source does not say what takes touches, all that is shown does, except the parts of an element.
func TestTouchesOnOpaqueTrees(t *testing.T) {
	t.Parallel()
	for label, want := range map[[4]int]string{{30, 190, 70, 210}: "target", {0, 150, 100, 250}: "label"} {
		target := placed("target", [4]int{20, 180, 80, 220}, func(n *screen.Node) { n.Clickable = true })
		tree := screen.NewTree(node("root", [4]int{0, 0, 100, 400}, nil, target, placed("label", label, nil)), 100, 400, screen.Compose)
		tree.Opaque = true
		checkTouch(t, tree, want, want == "target", "")
	}
}

func checkTouch(t *testing.T, tree *screen.Tree, hit string, reaches bool, over string) {
	t.Helper()
	tag := func(n *screen.Node) string {
		if n == nil {
			return ""
		}
		return *n.TestID
	}
	target := tree.ByKey("target")
	got := tree.Touch(target, target.Bounds.Centre())
	if tag(got.Hit) != hit || got.Reaches != reaches || tag(got.Over) != over {
		t.Errorf("hits %q, reaches the target: %t, %q is above; want %q, %t, %q", tag(got.Hit), got.Reaches, tag(got.Over), hit, reaches, over)
	}
}
