package screen_test

import (
	"testing"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

func TestCentresAreWholeNumbers(t *testing.T) {
	t.Parallel()
	for rect, want := range map[screen.Rect]screen.Point{
		{Right: 10, Bottom: 20}: {X: 5, Y: 10}, {Left: 1, Top: 2, Right: 4, Bottom: 5}: {X: 2, Y: 3},
		{Left: -5, Right: 2}: {X: -1}, {Left: 3, Right: 3}: {X: 3},
	} {
		if got := rect.Centre(); got != want {
			t.Errorf("%v: %v, want %v", rect, got, want)
		}
	}
}

func TestVisiblePartIsClippedToScreenAndScrollableParents(t *testing.T) {
	t.Parallel()
	list := at("list", 0, 100, 100, 200,
		at("in", 10, 110, 20, 120), at("cut", 10, 150, 20, 250), at("out", 10, 200, 20, 300),
		at("plain", 0, 120, 10, 130, at("wide", -50, 120, 50, 130)))
	list.Scrollable = true
	tree := screen.NewTree(at("root", 0, 0, 100, 50, list, at("edge", 90, 10, 150, 20), node("lost", [4]int{}, nil)), 100, 400, screen.Compose)
	for tag, want := range map[screen.Key]screen.Rect{
		"in": {10, 110, 20, 120}, "cut": {10, 150, 20, 200}, "out": {}, "wide": {0, 120, 50, 130}, "edge": {90, 10, 100, 20}, "lost": {},
	} {
		got, ok := tree.VisiblePart(tree.ByKey(tag))
		if ok != (want != screen.Rect{}) || ok && got != want {
			t.Errorf("%s: %v, %v, want %v", tag, got, ok, want)
		}
	}
	if _, ok := tree.VisiblePart(&screen.Node{Bounds: &screen.Rect{Right: 1, Bottom: 1}}); ok {
		t.Error("a node that is not in the tree is visible")
	}
}

func TestTopmostNodeAtAPoint(t *testing.T) {
	t.Parallel()
	text := func(tag string, place [4]int, children ...*screen.Node) *screen.Node {
		return cell(tag, tag, "", place, children...)
	}
	scroll := node("scroll", [4]int{0, 50, 100, 80}, func(n *screen.Node) { n.Scrollable = true }, text("clipped", [4]int{0, 40, 100, 60}))
	raised := node("raised", [4]int{60, 0, 100, 20}, func(n *screen.Node) { n.DrawingOrder, n.Clickable = 3, true })
	hidden := node("hidden", [4]int{0, 0, 100, 20}, func(n *screen.Node) { n.Hidden, n.Clickable, n.DrawingOrder = true, true, 9 })
	icon := node("icon", [4]int{2, 22, 8, 28}, nil)
	row := node("row", [4]int{0, 20, 100, 30}, func(n *screen.Node) { n.Clickable = true }, icon, text("title", [4]int{10, 20, 50, 30}))
	tree := screen.NewTree(at("root", 0, 0, 100, 100,
		hidden, raised, text("under", [4]int{0, 0, 100, 20}, text("over", [4]int{0, 0, 70, 10})), row, scroll,
		at("overlay", 0, 0, 100, 100, at("blank", 0, 0, 100, 100)), text("outside", [4]int{90, 85, 130, 95})), 100, 100, screen.Compose)
	for point, want := range map[screen.Point]string{
		{X: 5, Y: 5}: "over", {X: 5, Y: 15}: "under", {X: 65, Y: 5}: "raised", {X: 5, Y: 25}: "row", {X: 20, Y: 25}: "title",
		{X: 5, Y: 45}: "", {X: 5, Y: 55}: "clipped", {X: 5, Y: 70}: "scroll", {X: 5, Y: 90}: "", {X: 95, Y: 90}: "outside",
		{X: 110, Y: 90}: "", {X: -1, Y: 5}: "",
	} {
		got := ""
		if n := tree.At(point); n != nil {
			got = *n.TestID
		}
		if got != want {
			t.Errorf("%v: %q, want %q", point, got, want)
		}
	}
	for tag, want := range map[screen.Key]bool{
		"over": true, "under": true, "row": true, "title": true, "icon": true, "hidden": false, "raised": true, "blank": false, "overlay": false,
	} {
		n := tree.ByKey(tag)
		if got := tree.Touch(n, n.Bounds.Centre()).Reaches; got != want {
			t.Errorf("%s receives a touch at its centre: %v, want %v", tag, got, want)
		}
	}
	if tree.Touch(tree.ByKey("over"), screen.Point{X: 90, Y: 18}).Reaches {
		t.Error("a node receives a touch outside its bounds")
	}
}
