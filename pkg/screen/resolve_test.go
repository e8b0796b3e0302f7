package screen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// node is a node of a test tree with a test tag, at a place unless it is all zero.
func node(tag string, place [4]int, more func(*screen.Node), children ...*screen.Node) *screen.Node {
	n := &screen.Node{Children: children, Key: screen.Key(tag)}
	n.TestID = &tag
	if place != [4]int{} {
		n.Bounds = &screen.Rect{Left: place[0], Top: place[1], Right: place[2], Bottom: place[3]}
	}
	if more != nil {
		more(n)
	}
	return n
}

// at is a node at a place.
func at(tag string, left, top, right, bottom int, children ...*screen.Node) *screen.Node {
	return node(tag, [4]int{left, top, right, bottom}, nil, children...)
}

// labelled gives a node a text, which selectors of Compose match.
func labelled(text string, n *screen.Node) *screen.Node {
	n.Text = &text
	return n
}

// tags returns the test tags of nodes.
func tags(nodes []*screen.Node) string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		out[i] = *n.TestID
	}
	return strings.Join(out, " ")
}

// grid is three rows of a name, a price and a button, in the order of the tree from the bottom up, and a button without
// a place.
func grid() *screen.Tree {
	row := func(n, top int) *screen.Node {
		name := func(what string) string { return fmt.Sprint(what, n) }
		return at(name("row"), 0, top, 300, top+100,
			labelled("delete", at(name("delete"), 200, top, 300, top+50)),
			labelled("name", at(name("name"), 0, top, 100, top+50)),
			at(name("box"), 100, top, 200, top+50, labelled(name("price"), at(name("price"), 100, top, 200, top+50))),
		)
	}
	return screen.NewTree(at("root", 0, 0, 300, 300,
		labelled("delete", node("lost", [4]int{}, nil)), row(3, 200), row(2, 100), row(1, 0),
	), 300, 300, screen.Compose)
}

func TestResolvingByPlaceAndRelation(t *testing.T) {
	t.Parallel()
	tree := grid()
	for name, tt := range map[string]struct{ selector, want string }{
		"by top": {`{"compose": {"textRegex": "name"}}`, "name1 name2 name3"},
		"by top, then by left": {
			`{"compose": {"textRegex": "name|delete"}}`, "name1 delete1 name2 delete2 name3 delete3 lost",
		},
		"without bounds last":      {`{"compose": {"textRegex": "delete"}}`, "delete1 delete2 delete3 lost"},
		"same place: parent first": {`{"compose": {"testTag": "box2"}, "index": 0}`, "box2"},
		"index":                    {`{"compose": {"textRegex": "name"}, "index": 1}`, "name2"},
		"index 0":                  {`{"compose": {"textRegex": "name"}, "index": 0}`, "name1"},
		"index of the last":        {`{"compose": {"textRegex": "delete"}, "index": 3}`, "lost"},
		"index out of range":       {`{"compose": {"textRegex": "name"}, "index": 3}`, ""},
		"below":                    {`{"compose": {"textRegex": "name"}, "below": {"compose": {"textRegex": "price1"}}}`, "name2 name3"},
		"below touches":            {`{"compose": {"testTag": "row2"}, "below": {"compose": {"testTag": "row1"}}}`, "row2"},
		"above":                    {`{"compose": {"textRegex": "name"}, "above": {"compose": {"textRegex": "price3"}}}`, "name1 name2"},
		"above touches":            {`{"compose": {"testTag": "row1"}, "above": {"compose": {"testTag": "row2"}}}`, "row1"},
		"left of":                  {`{"compose": {"textRegex": "name|delete"}, "leftOf": {"compose": {"textRegex": "price2"}}}`, "name1 name2 name3"},
		"right of":                 {`{"compose": {"textRegex": "name|delete"}, "rightOf": {"compose": {"textRegex": "price2"}}}`, "delete1 delete2 delete3"},
		"the anchor is the first match": {
			`{"compose": {"textRegex": "name"}, "below": {"compose": {"textRegex": "name"}}}`, "name2 name3",
		},
		"the anchor's own index": {
			`{"compose": {"textRegex": "name"}, "below": {"compose": {"textRegex": "name"}, "index": 1}}`, "name3",
		},
		"the anchor's own relations": {
			`{"compose": {"textRegex": "name"}, "below": {"compose": {"textRegex": "name"}, "below": {"compose": {"textRegex": "name"}}}}`, "name3",
		},
		"no anchor":             {`{"compose": {"textRegex": "name"}, "below": {"compose": {"textRegex": "nothing"}}}`, ""},
		"anchor without bounds": {`{"compose": {"textRegex": "name"}, "below": {"compose": {"testTag": "lost"}}}`, ""},
		"no bounds":             {`{"compose": {"textRegex": "delete"}, "above": {"compose": {"testTag": "row3"}}}`, "delete1 delete2"},
		"two relations": {
			`{"compose": {"textRegex": "name"}, "below": {"compose": {"testTag": "row1"}}, "above": {"compose": {"testTag": "row3"}}}`, "name2",
		},
		"child of":              {`{"compose": {"textRegex": "price."}, "childOf": {"compose": {"testTag": "row2"}}}`, "price2"},
		"child of: not itself":  {`{"compose": {"testTag": "row2"}, "childOf": {"compose": {"testTag": "row2"}}}`, ""},
		"child of nothing":      {`{"childOf": {"compose": {"testTag": "row9"}}}`, ""},
		"child of every match":  {`{"compose": {"textRegex": "name"}, "childOf": {"compose": {"testTag": "row3"}, "index": 0}}`, "name3"},
		"child of several":      {`{"compose": {"textRegex": "price1"}, "childOf": {"childOf": {"compose": {"testTag": "root"}}}}`, "price1 price1"},
		"index counts doubles":  {`{"compose": {"textRegex": "price."}, "childOf": {"childOf": {"compose": {"testTag": "root"}}}, "index": 2}`, "price2"},
		"child of, deeper":      {`{"compose": {"textRegex": "price."}, "childOf": {"compose": {"testTag": "box1"}, "childOf": {"compose": {"testTag": "row1"}}}}`, "price1"},
		"contains child":        {`{"containsChild": {"compose": {"textRegex": "price2"}}}`, "box2"},
		"contains child, index": {`{"containsChild": {"compose": {"textRegex": "name"}, "index": 7}}`, "row1 row2 row3"},
		"contains child, child of": {
			`{"containsChild": {"compose": {"textRegex": "name"}, "childOf": {"compose": {"testTag": "row2"}}}}`, "row1 row2 row3",
		},
		"contains child with a relation": {
			`{"containsChild": {"compose": {"textRegex": "name"}, "below": {"compose": {"testTag": "row2"}}}}`, "row3",
		},
		"contains descendants": {
			`{"containsDescendants": [{"compose": {"textRegex": "price2"}}, {"compose": {"textRegex": "name"}}]}`, "root row2",
		},
		"contains descendants: not itself": {`{"compose": {"testTag": "box1"}, "containsDescendants": [{"compose": {"testTag": "box1"}}]}`, ""},
		"everything in a row": {
			`{"compose": {"textRegex": "delete"}, "childOf": {"containsChild": {"containsChild": {"compose": {"textRegex": "price2"}}}}}`, "delete2",
		},
		"other driver":             {`{"web": {}}`, ""},
		"other driver as anchor":   {`{"compose": {"textRegex": "name"}, "below": {"web": {}}}`, ""},
		"other driver as parent":   {`{"compose": {"textRegex": "name"}, "childOf": {"web": {}}}`, ""},
		"other driver as child":    {`{"containsChild": {"web": {}}}`, ""},
		"index without a block":    {`{"index": 0}`, "root"},
		"whole text":               {`{"compose": {"textRegex": "price"}}`, ""},
		"whole text: alternatives": {`{"compose": {"textRegex": "pric|name"}}`, "name1 name2 name3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tags(tree.ResolveNative(selector(t, tt.selector))); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.selector, got, tt.want)
			}
		})
	}
}

func TestElementsThatOverlapAreNotBesideEachOther(t *testing.T) {
	t.Parallel()
	tree := screen.NewTree(at("root", 0, 0, 90, 90,
		at("anchor", 30, 30, 60, 60), at("low", 30, 50, 60, 80), at("high", 30, 10, 60, 40), at("left", 10, 30, 40, 60), at("right", 50, 30, 80, 60),
		at("lowest", 80, 80, 90, 90)), 90, 90, screen.Compose)
	for relation, want := range map[string]string{"below": "lowest", "above": "", "leftOf": "", "rightOf": "lowest"} {
		s := selector(t, `{"`+relation+`": {"compose": {"testTag": "anchor"}}}`)
		if got := tags(tree.ResolveNative(s)); got != want {
			t.Errorf("%s: %q, want %q", relation, got, want)
		}
	}
}

func TestSamePlaceKeepsTheOrderOfTheTree(t *testing.T) {
	t.Parallel()
	tree := screen.NewTree(at("root", 5, 5, 9, 9,
		at("a", 0, 1, 9, 9, at("b", 0, 1, 1, 2)), at("c", 0, 1, 9, 9), node("d", [4]int{}, nil), at("e", 0, 0, 9, 9),
		node("f", [4]int{}, nil)), 0, 0, screen.Compose)
	if got := tags(tree.ResolveNative(&screen.Selector{})); got != "e a b c root d f" {
		t.Errorf("%s", got)
	}
}

func TestEveryKeyMatchesItsProperty(t *testing.T) {
	t.Parallel()
	every := &screen.Node{
		Role: "heading", Class: new("class"), Text: new("text"), Label: new("label"), Hint: new("hint"), Value: new("value"), ID: new("id"),
		States: screen.States{
			Disabled: true, Clickable: true, Checkable: true, Selected: true, Focused: true, Editable: true, Scrollable: true,
			Password: true, Heading: true, MultiLine: true, Checked: screen.ToggleOn, Level: 2,
		},
		Details: screen.Details{
			TestID: new("test"), UniqueID: new("unique"), LabeledBy: new("labeled"), StateDescription: new("state"), PaneTitle: new("pane"),
			RoleDescription: new("described"), NativeRole: new("role"), Subrole: new("subrole"), Title: new("title"),
			ToggleableState: new("On"), CustomActions: []string{"one", "two"}, InputType: 4, Row: new(5), Column: new(6),
		},
	}
	bare := &screen.Node{}
	for _, d := range screen.Dialects() {
		full, empty := screen.NewTree(every, 0, 0, d), screen.NewTree(bare, 0, 0, d)
		for key, value := range valuesOf(d) {
			s, err := screen.ParseSelector(map[string]any{string(d): map[string]any{key: value}}, screen.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(full.ResolveNative(s)) != 1 {
				t.Errorf("%s does not match %s", s, every)
			}
			if len(empty.ResolveNative(s)) != 0 && value != true {
				t.Errorf("%s matches a node without properties", s)
			}
			if value, ok := value.(bool); ok {
				s, err := screen.ParseSelector(map[string]any{string(d): map[string]any{key: !value}}, screen.ParseOptions{})
				if err != nil || len(full.ResolveNative(s)) != 0 || len(empty.ResolveNative(s)) != 1 {
					t.Errorf("%s.%s: %v does not tell the nodes apart; %v", d, key, !value, err)
				}
			}
		}
		if want := len(object(t, everyKey()[string(d)])[string(d)].(map[string]any)); d != screen.Web && len(valuesOf(d)) != want {
			t.Errorf("%s: %d keys are tested, want %d", d, len(valuesOf(d)), want)
		}
	}
}

// valuesOf returns for each key of a dialect the value that the node with every property has.
func valuesOf(d screen.Dialect) map[string]any {
	switch d {
	case screen.Web:
		return map[string]any{
			"dataTestId": "test", "ariaRole": "Heading", "ariaNameRegex": "lab.l", "ariaDescriptorRegex": `heading "label"`, "headingLevel": 2,
		}
	case screen.AndroidAccessibility:
		return map[string]any{
			"textRegex": "text", "contentDescriptionRegex": "label", "hintTextRegex": "hint", "resourceIdRegex": "id", "classNameRegex": "class",
			"composeTestTagRegex": "test", "labeledByTextRegex": "labeled", "stateDescriptionRegex": "state", "paneTitleRegex": "pane",
			"roleDescriptionRegex": "described", "uniqueId": "unique", "isEnabled": false, "isClickable": true, "isCheckable": true,
			"isChecked": true, "isSelected": true, "isFocused": true, "isEditable": true, "isScrollable": true, "isPassword": true,
			"isHeading": true, "isMultiLine": true, "inputType": 4, "collectionItemRowIndex": 5, "collectionItemColumnIndex": 6,
		}
	case screen.AndroidMaestro:
		return map[string]any{
			"textRegex": "TEXT", "accessibilityTextRegex": "LABEL", "hintTextRegex": "hint", "resourceIdRegex": "id",
			"classNameRegex": "class", "clickable": true, "enabled": false, "focused": true, "checked": true, "selected": true,
		}
	case screen.IOSMaestro:
		return map[string]any{
			"textRegex": "TEXT", "accessibilityTextRegex": "LABEL", "hintTextRegex": "hint", "resourceIdRegex": "id",
			"classNameRegex": "class", "focused": true, "selected": true,
		}
	case screen.IOSAxe:
		return map[string]any{
			"roleRegex": "role", "subroleRegex": "subrole", "labelRegex": "label", "valueRegex": "value", "typeRegex": "class",
			"titleRegex": "title", "uniqueId": "unique", "customAction": "two", "enabled": false,
		}
	case screen.Compose:
		return map[string]any{
			"textRegex": "value", "editableTextRegex": "value", "contentDescriptionRegex": "label", "testTag": "test", "role": "role",
			"toggleableState": "On", "isEnabled": false, "isFocused": true, "isSelected": true, "isPassword": true,
		}
	}
	return nil
}

func TestTextIsTheFirstThatIsThere(t *testing.T) {
	t.Parallel()
	text, hint, label, value := new("text"), new("hint"), new("label"), new("value")
	for name, tt := range map[string]struct {
		dialect screen.Dialect
		node    screen.Node
		want    string
	}{
		"text":             {screen.AndroidAccessibility, screen.Node{Text: text, Hint: hint, Label: label}, "text"},
		"empty text":       {screen.AndroidAccessibility, screen.Node{Text: new(""), Hint: hint, Label: label}, ""},
		"hint":             {screen.AndroidAccessibility, screen.Node{Hint: hint, Label: label}, "hint"},
		"label":            {screen.AndroidMaestro, screen.Node{Label: label}, "label"},
		"maestro on iOS":   {screen.IOSMaestro, screen.Node{Hint: hint, Label: label}, "hint"},
		"compose: typed":   {screen.Compose, screen.Node{Value: value, Text: text, Label: label}, "value"},
		"compose: empty":   {screen.Compose, screen.Node{Value: new(""), Text: text}, ""},
		"compose: text":    {screen.Compose, screen.Node{Text: text, Label: label, Hint: hint}, "text"},
		"compose: no hint": {screen.Compose, screen.Node{Label: label, Hint: hint}, "label"},
	} {
		for _, candidate := range []string{"text", "hint", "label", "value", ""} {
			s, err := screen.ParseSelector(
				map[string]any{string(tt.dialect): map[string]any{"textRegex": candidate}}, screen.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := len(screen.NewTree(&tt.node, 0, 0, tt.dialect).ResolveNative(s)) == 1; got != (candidate == tt.want) {
				t.Errorf("%s: pattern %q matches: %v", name, candidate, got)
			}
		}
	}
}

func TestWebBlocks(t *testing.T) {
	t.Parallel()
	button := func(tag, name string, place [4]int, children ...*screen.Node) *screen.Node {
		return node(tag, place, func(n *screen.Node) { n.Role, n.Label = "button", &name }, children...)
	}
	tree := screen.NewTree(at("root", 0, 0, 9, 9,
		button("low", "Save", [4]int{0, 5, 9, 9}), at("form", 0, 0, 9, 5, button("high", "Save", [4]int{0, 0, 5, 5}, button("in", "Save", [4]int{}))),
		button("other", "Open", [4]int{5, 0, 9, 5})), 9, 9, screen.Web)
	css := selector(t, `{"web": {"cssSelector": ".x", "ariaRole": "heading", "nthIndex": 1}}`)
	tree.Found = map[*screen.Block][]screen.Key{css.Block: {"low", "other", "gone", ""}}
	for name, tt := range map[string]struct{ selector, want string }{
		"document order":                {`{"web": {"ariaRole": "BUTTON"}}`, "low high in other"},
		"role and name":                 {`{"web": {"ariaRole": "button", "ariaNameRegex": "S.*"}}`, "low high in"},
		"name":                          {`{"web": {"ariaNameRegex": "Open"}}`, "other"},
		"number":                        {`{"web": {"ariaNameRegex": "Save", "nthIndex": 1}}`, "high"},
		"number out of range":           {`{"web": {"ariaNameRegex": "Save", "nthIndex": 3}}`, ""},
		"test id wins over role":        {`{"web": {"dataTestId": "form", "ariaRole": "button"}}`, "form"},
		"empty texts say nothing":       {`{"web": {"dataTestId": "", "cssSelector": "", "ariaNameRegex": "Open"}}`, "other"},
		"number before relation":        {`{"web": {"ariaNameRegex": "Save", "nthIndex": 0}, "childOf": {"web": {"dataTestId": "form"}}}`, ""},
		"index after relation":          {`{"web": {"ariaNameRegex": "Save"}, "childOf": {"web": {"dataTestId": "form"}}, "index": 0}`, "high"},
		"each element once":             {`{"web": {"dataTestId": "in"}, "childOf": {"childOf": {"web": {"dataTestId": "root"}}}}`, "in"},
		"CSS that was not looked up":    {`{"web": {"cssSelector": ".x"}}`, ""},
		"CSS wins over test id":         {`{"web": {"cssSelector": ".x", "dataTestId": "form"}}`, ""},
		"heading level of what is none": {`{"web": {"ariaRole": "button", "headingLevel": 2}}`, ""},
	} {
		if got := tags(tree.ResolveNative(selector(t, tt.selector))); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if got := tags(tree.ResolveNative(css)); got != "other" {
		t.Errorf("CSS: %q", got)
	}
}

// important is a tree in which some nodes are not important.
func important() *screen.Tree {
	un := func(n *screen.Node) *screen.Node {
		n.Unimportant = true
		return n
	}
	web := at("web", 0, 4, 9, 5, un(at("w1", 0, 4, 9, 5, un(at("w2", 0, 4, 9, 5)))))
	web.Class = new("android.webkit.WebView")
	blank := un(at("blank", 0, 3, 9, 4))
	blank.Text = new(" \n")
	label := un(at("label", 0, 3, 9, 4))
	label.Label = new("label")
	return screen.NewTree(un(at("root", 0, 0, 9, 9,
		un(at("wrapper", 0, 0, 9, 9,
			at("a", 0, 1, 9, 2, un(at("box", 0, 1, 9, 2, labelled("inner", at("inner", 0, 1, 9, 2))))),
			at("b", 0, 1, 9, 2, un(at("box1", 0, 1, 9, 2, un(at("box2", 0, 1, 9, 2, labelled("twice", at("twice", 0, 1, 9, 2))))))),
			labelled("held", un(at("holder", 0, 2, 9, 3, at("held", 0, 2, 9, 3)))),
			labelled("hollow", un(at("hollow", 0, 2, 9, 3, un(at("gone", 0, 2, 9, 3))))),
			un(at("bare", 0, 3, 9, 4)), blank, label, un(web))))), 9, 9, screen.AndroidAccessibility)
}

func TestFilteredTree(t *testing.T) {
	t.Parallel()
	tree := important()
	filtered := tree.Filtered()
	if got := tags(filtered.Nodes()); got != "root a inner b twice held hollow label web w1 w2" {
		t.Errorf("filtered: %s", got)
	}
	if filtered != tree.Filtered() || filtered.Filtered() != filtered {
		t.Error("the filtered tree is made more than once")
	}
	inner := filtered.ByKey("inner")
	if got := *filtered.Parent(inner).TestID; got != "a" || *tree.Parent(inner).TestID != "box" {
		t.Errorf("parent of inner: %s", got)
	}
	if filtered.Parent(tree.ByKey("bare")) != nil || len(filtered.Descendants(tree.ByKey("wrapper"))) != 0 {
		t.Error("nodes that are not in the tree have a parent and descendants")
	}
	child := func(text string) *screen.Selector {
		return selector(t, `{"containsChild": {"androidAccessibility": {"textRegex": "`+text+`"}}}`)
	}
	if m := tree.Resolve(child("inner")); tags(m.Nodes) != "a" || m.Tree != filtered {
		t.Errorf("the filtered tree is first: %s", tags(m.Nodes))
	}
	if got := tags(tree.ResolveNative(child("inner"))); got != "box" {
		t.Errorf("whole tree: %s", got)
	}
	if got := tags(tree.Resolve(child("twice")).Nodes); got != "b" {
		t.Errorf("two removed parents: %s", got)
	}
	blank := selector(t, `{"androidAccessibility": {"textRegex": " \n"}}`)
	if m := tree.Resolve(blank); tags(m.Nodes) != "blank" || m.Tree != tree {
		t.Errorf("the whole tree is second: %s", tags(m.Nodes))
	}
	anchored := selector(t, `{"androidAccessibility": {"textRegex": "inner"}, "below": {"androidAccessibility": {"textRegex": "held"}}}`)
	if m := tree.Resolve(anchored); len(m.Nodes) != 0 {
		t.Errorf("no tree matches: %s", tags(m.Nodes))
	}
}

func TestWebViewAsRootStaysWhole(t *testing.T) {
	t.Parallel()
	bare := at("bare", 0, 0, 9, 9)
	bare.Unimportant = true
	web := at("web", 0, 0, 9, 9, bare)
	web.Class = new("android.webkit.WebView")
	if got := tags(screen.NewTree(web, 9, 9, screen.AndroidAccessibility).Filtered().Nodes()); got != "web bare" {
		t.Errorf("filtered: %s", got)
	}
}

func TestCheckNamesWhatATreeCannotAnswer(t *testing.T) {
	t.Parallel()
	tree := screen.NewTree(at("root", 0, 0, 9, 9), 9, 9, screen.AndroidAccessibility, screen.AndroidMaestro)
	tree.Unavailable = map[string]string{"androidAccessibility.uniqueId": "the server does not report it"}
	for text, want := range map[string]string{
		`{"androidAccessibility": {}, "below": {"androidMaestro": {}}}`: "",
		`{"index": 1}`: "",
		`{"iosMaestro": {"textRegex": "a"}}`: "the selector has the driver block iosMaestro, but this screen answers to " +
			"androidAccessibility and androidMaestro",
		`{"containsDescendants": [{}, {"childOf": {"web": {}}}]}`: "the selector has the driver block web, but this screen answers to " +
			"androidAccessibility and androidMaestro",
		`{"below": {"androidAccessibility": {"uniqueId": "1"}}}`: "androidAccessibility.uniqueId cannot be matched on this device: " +
			"the server does not report it",
	} {
		err := tree.Check(selector(t, text))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want || err != nil && fault.KindOf(err) != fault.InvalidArguments {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	page := screen.NewTree(at("root", 0, 0, 9, 9), 9, 9, screen.Web)
	css := selector(t, `{"web": {"cssSelector": "a"}}`)
	if page.Check(css) == nil {
		t.Error("a CSS selector that was not looked up is accepted")
	}
	page.Found = map[*screen.Block][]screen.Key{css.Block: nil}
	if err := page.Check(css); err != nil {
		t.Error(err)
	}
}

func TestNestingIsBounded(t *testing.T) {
	t.Parallel()
	deep := &screen.Selector{}
	for range 11 {
		deep = &screen.Selector{ContainsDescendants: []*screen.Selector{deep}}
	}
	chain := &screen.Node{}
	for range 20 {
		chain = &screen.Node{Children: []*screen.Node{chain}}
	}
	tree := screen.NewTree(chain, 0, 0, screen.IOSMaestro)
	if got := len(tree.ResolveNative(deep)); got != 0 {
		t.Errorf("11 deep: %d nodes", got)
	}
	if got := len(tree.ResolveNative(deep.ContainsDescendants[0])); got != 11 {
		t.Errorf("10 deep: %d nodes", got)
	}
	if got := len(tree.ResolveMaestro(deep)); got != 0 {
		t.Errorf("11 deep, Maestro: %d nodes", got)
	}
	cycle := &screen.Selector{}
	cycle.Below = cycle
	_ = tree.ResolveMaestro(cycle)
	if got := tree.ResolveNative(cycle); len(got) != 0 {
		t.Errorf("a selector below itself: %d nodes", len(got))
	}
}

func TestEmptyScreens(t *testing.T) {
	t.Parallel()
	tree := screen.NewTree(nil, 10, 10, screen.AndroidAccessibility)
	s := selector(t, `{"childOf": {"androidAccessibility": {"textRegex": "a"}}, "below": {}, "containsDescendants": [{}], "index": 0}`)
	if tree.Root() != nil || len(tree.Filtered().Nodes()) != 0 || len(tree.Resolve(s).Nodes) != 0 || len(tree.ResolveMaestro(s)) != 0 ||
		tree.At(screen.Point{X: 1, Y: 1}) != nil {
		t.Error("an empty screen has nodes")
	}
	if diff := cmp.Diff([]*screen.Node(nil), tree.Nodes()); diff != "" {
		t.Error(diff)
	}
}
