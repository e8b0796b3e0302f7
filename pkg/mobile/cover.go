package mobile

import (
	"fmt"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// coveredBecause returns what would receive the touch of an element in its place, "" if the element would.
func coveredBecause(e *found) string {
	if e.behind != "" {
		return e.behind + " is in front of its app"
	}
	touch := e.screen.Tree.Touch(e.node, e.point)
	e.over = touch.Over
	switch {
	case touch.Reaches:
		return ""
	case touch.Hit == nil:
		return "nothing on the screen receives a touch there"
	}
	return covers(named(touch.Hit, e.screen.Tree))
}

// named returns n, or the first in it that has a name if it has none.
func named(n *screen.Node, t *screen.Tree) *screen.Node {
	for _, m := range append([]*screen.Node{n}, t.Descendants(n)...) {
		if m.Name() != "" {
			return m
		}
	}
	return n
}

func covers(n *screen.Node) string { return fmt.Sprintf("%s covers it", n) }

// coveredOnIOS is coveredBecause for iOS, which lists elements in another order than it draws them. Known to be above
// others are dialogs, which take every touch, and bars. What else is covered, iOS reports as not visible.
func coveredOnIOS(e *found) string {
	for _, n := range e.nodesAbove() {
		if isDialog(n) || n.Bounds.Contains(e.point) {
			return covers(n)
		}
	}
	return ""
}

// isUnderKeyboard reports whether the keyboard covers the element at a point. Its own keys, which iOS lists, are on it.
func (e *found) isUnderKeyboard(at screen.Point) bool {
	tree, area := e.screen.Tree, e.screen.Keyboard
	return area != nil && area.Contains(at) && !slices.ContainsFunc(tree.Nodes(), func(n *screen.Node) bool {
		return isKeyboard(n) && tree.IsWithin(e.node, n)
	})
}

// nodesAbove returns the dialogs and bars of iOS that are above the element.
func (e *found) nodesAbove() []*screen.Node {
	var list []*screen.Node
	for _, n := range e.screen.Tree.Nodes() {
		switch {
		case n.Hidden || n.Bounds == nil || !isDialog(n) && !isBar(n) && !isKeyboard(n):
		case e.screen.Tree.IsWithin(e.node, n):
			if !isBar(n) {
				return nil // it is above all others
			}
		case isKeyboard(n): // which has a condition of its own
		case !e.screen.Tree.IsWithin(n, e.node):
			list = append(list, n)
		}
	}
	return list
}

// isDialog reports whether n is a dialog of iOS, beside which no touch reaches anything.
func isDialog(n *screen.Node) bool {
	return n.Class != nil && slices.Contains([]string{"Alert", "Sheet"}, *n.Class)
}

// isKeyboard reports whether n is the on-screen keyboard of iOS.
func isKeyboard(n *screen.Node) bool { return n.Class != nil && *n.Class == "Keyboard" }

// isBar reports whether n is a bar of iOS, below which the content of the app scrolls.
func isBar(n *screen.Node) bool {
	return n.Class != nil && slices.Contains([]string{"NavigationBar", "TabBar", "Toolbar", "StatusBar"}, *n.Class)
}

// besideBars returns what bars of iOS leave of the visible part; all of it if that is nothing.
func (e *found) besideBars() screen.Rect {
	part := e.part
	for _, n := range e.nodesAbove() {
		switch bar := *n.Bounds; {
		case isDialog(n) || part.Intersect(bar).Empty():
		case bar.Top <= part.Top:
			part.Top = bar.Bottom
		case bar.Bottom >= part.Bottom:
			part.Bottom = bar.Top
		}
	}
	if part.Empty() {
		return e.part
	}
	return part
}
