package screen_test

import (
	"testing"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// cell is a node of an iOS tree with a text and an id, absent when empty.
func cell(tag, text, id string, place [4]int, children ...*screen.Node) *screen.Node {
	return node(tag, place, func(n *screen.Node) {
		if text != "" {
			n.Text = &text
		}
		if id != "" {
			n.ID = &id
		}
	}, children...)
}

// contacts is an iOS screen with texts in one another.
func contacts() *screen.Tree {
	clickable := cell("tap", "Ada", "com.x:id/name", [4]int{0, 300, 100, 350})
	clickable.Clickable = true
	hint := cell("field", "", "", [4]int{0, 400, 100, 450})
	hint.Hint, hint.Label = new("Ada"), new("Search")
	return screen.NewTree(cell("root", "", "", [4]int{0, 0, 402, 874},
		cell("outer", "Ada", "Row", [4]int{0, 200, 402, 300},
			cell("inner", "Ada", "name", [4]int{0, 210, 200, 250}, cell("deep", "ADA", "", [4]int{0, 220, 100, 240})),
			cell("side", "Bob", "", [4]int{300, 210, 402, 250})),
		cell("first", "Ada", "", [4]int{0, 100, 100, 150}),
		clickable,
		hint,
		cell("lines", "Ada\nLovelace", "Row", [4]int{200, 100, 400, 150}),
		cell("lost", "Ada", "", [4]int{}),
	), 402, 874, screen.IOSMaestro, screen.AndroidMaestro)
}

func TestMaestroResolving(t *testing.T) {
	t.Parallel()
	tree := contacts()
	for name, tt := range map[string]struct{ selector, want string }{
		"deepest only, clickable first, then the order of the tree": {`{"iosMaestro": {"textRegex": "ada"}}`, "tap deep first field lost"},
		"index by top and left, without bounds last":                {`{"iosMaestro": {"textRegex": "ada"}, "index": 0}`, "first"},
		"index of the last":                        {`{"iosMaestro": {"textRegex": "ada"}, "index": 4}`, "lost"},
		"index out of range":                       {`{"iosMaestro": {"textRegex": "ada"}, "index": 5}`, ""},
		"newlines are spaces":                      {`{"iosMaestro": {"textRegex": "ada lovelace"}}`, "lines"},
		"newlines stay newlines":                   {`{"iosMaestro": {"textRegex": "ada\nlovelace"}}`, "lines"},
		"any of text, hint and label":              {`{"iosMaestro": {"textRegex": "search"}}`, "field"},
		"label asks for any, too":                  {`{"iosMaestro": {"accessibilityTextRegex": "bob"}}`, "side"},
		"id":                                       {`{"iosMaestro": {"resourceIdRegex": "row"}}`, "outer lines"},
		"id after the last slash":                  {`{"androidMaestro": {"resourceIdRegex": "name"}}`, "tap inner"},
		"id as a whole":                            {`{"androidMaestro": {"resourceIdRegex": "com.x:id/name"}}`, "tap"},
		"text and id, each the deepest of its own": {`{"iosMaestro": {"textRegex": "ada", "resourceIdRegex": "name"}}`, "tap"},
		"state":                             {`{"androidMaestro": {"textRegex": "ada", "clickable": false}}`, "deep first field lost"},
		"state alone: not the deepest only": {`{"androidMaestro": {"enabled": true}, "index": 0}`, "root"},
		"below: the top is lower":           {`{"iosMaestro": {"textRegex": "ada"}, "below": {"iosMaestro": {"textRegex": "bob"}}}`, "tap deep field"},
		"below any: the nearest first": {
			`{"below": {"iosMaestro": {"textRegex": "bob"}}, "above": {"iosMaestro": {"textRegex": "search"}}}`, "tap deep",
		},
		"above alone: the nearest first": {
			`{"above": {"iosMaestro": {"textRegex": "search"}}}`, "tap root deep inner outer first side lines",
		},
		"below any of several": {
			`{"iosMaestro": {"resourceIdRegex": "row"}, "below": {"iosMaestro": {"resourceIdRegex": "row"}}}`, "outer",
		},
		"child of, itself": {
			`{"iosMaestro": {"resourceIdRegex": "name"}, "childOf": {"iosMaestro": {"resourceIdRegex": "name"}}}`, "tap",
		},
		"above":    {`{"iosMaestro": {"textRegex": "ada.*"}, "above": {"iosMaestro": {"textRegex": "bob"}}}`, "first lines"},
		"left of":  {`{"iosMaestro": {"textRegex": "ada.*"}, "leftOf": {"iosMaestro": {"textRegex": "bob"}}}`, "tap deep first field lines"},
		"right of": {`{"iosMaestro": {"textRegex": ".+"}, "rightOf": {"iosMaestro": {"textRegex": "ada lovelace"}}}`, "side"},
		"no anchor": {
			`{"iosMaestro": {"textRegex": "ada"}, "below": {"iosMaestro": {"textRegex": "eve"}}}`, "",
		},
		"child of the first match, which may be meant itself": {
			`{"iosMaestro": {"textRegex": "ada"}, "childOf": {"iosMaestro": {"resourceIdRegex": "row"}}}`, "deep",
		},
		"child of nothing": {`{"iosMaestro": {"textRegex": "ada"}, "childOf": {"iosMaestro": {"textRegex": "eve"}}}`, ""},
		"contains child":   {`{"containsChild": {"iosMaestro": {"textRegex": "bob"}}}`, "outer"},
		"contains child: only the first": {
			`{"containsChild": {"iosMaestro": {"resourceIdRegex": "row|name"}}}`, "root",
		},
		"contains child: none": {`{"containsChild": {"iosMaestro": {"textRegex": "eve"}}}`, ""},
		"contains descendants": {
			`{"containsDescendants": [{"iosMaestro": {"textRegex": "bob"}}, {"iosMaestro": {"textRegex": "ada"}}]}`, "root outer",
		},
		"other driver":           {`{"web": {"ariaRole": "button"}}`, ""},
		"other driver as anchor": {`{"iosMaestro": {"textRegex": "ada"}, "below": {"iosAxe": {}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tags(tree.ResolveMaestro(selector(t, tt.selector))); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.selector, got, tt.want)
			}
		})
	}
}

func TestMaestroDecidesWhereSeveralMatch(t *testing.T) {
	t.Parallel()
	tree := contacts()
	for name, tt := range map[string]struct{ selector, resolve, action string }{
		"one":     {`{"iosMaestro": {"textRegex": "bob"}}`, "side", "side"},
		"several": {`{"iosMaestro": {"resourceIdRegex": "row"}}`, "lines outer", "outer lines"},
		"none":    {`{"iosMaestro": {"textRegex": "ada lovelace"}}`, "lines", "lines"},
		"nothing": {`{"iosMaestro": {"textRegex": "eve"}}`, "", ""},
		"one of several": {
			`{"iosMaestro": {"textRegex": "ada"}, "index": 1}`, "outer", "outer",
		},
	} {
		s := selector(t, tt.selector)
		if got := tags(tree.Resolve(s).Nodes); got != tt.resolve {
			t.Errorf("%s: resolve: %q, want %q", name, got, tt.resolve)
		}
		if got := tags(tree.ResolveForAction(s).Nodes); got != tt.action {
			t.Errorf("%s: for an action: %q, want %q", name, got, tt.action)
		}
	}
	android := grid()
	s := selector(t, `{"compose": {"textRegex": "name"}}`)
	if got := tags(android.ResolveForAction(s).Nodes); got != "name1 name2 name3" {
		t.Errorf("another dialect: %q", got)
	}
	if got := tags(contacts().ResolveForAction(&screen.Selector{Index: new(0)}).Nodes); got != "root" {
		t.Errorf("a selector without a block: %q", got)
	}
}
