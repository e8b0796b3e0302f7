package screen

import (
	"cmp"
	"slices"
)

// At returns the topmost node at a point, of those that show something or take touches; nil without one.
func (t *Tree) At(p Point) *Node { return t.topmost(p, (*Node).canBeHit) }

// topmost returns the topmost of the nodes at a point of which hit holds; nil without one.
func (t *Tree) topmost(p Point, hit func(*Node) bool) *Node {
	if len(t.nodes) == 0 {
		return nil
	}
	screen := Rect{0, 0, t.Width, t.Height}
	if !screen.Empty() && !screen.Contains(p) {
		return nil
	}
	return t.nodes[0].topmost(p, hit)
}

// topmost searches n and what is below it; what is drawn last comes first.
func (n *Node) topmost(p Point, hit func(*Node) bool) *Node {
	inside := n.Bounds != nil && n.Bounds.Contains(p)
	if n.Scrollable && n.Bounds != nil && !inside {
		return nil // what it holds is clipped
	}
	for _, child := range slices.Backward(inDrawingOrder(n.Children)) {
		if found := child.topmost(p, hit); found != nil {
			return found
		}
	}
	if inside && hit(n) {
		return n
	}
	return nil
}

// inDrawingOrder returns nodes with those that are drawn last at the end.
func inDrawingOrder(nodes []*Node) []*Node {
	byOrder := func(a, b *Node) int { return cmp.Compare(a.DrawingOrder, b.DrawingOrder) }
	if slices.IsSortedFunc(nodes, byOrder) {
		return nodes
	}
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, byOrder)
	return nodes
}

// canBeHit reports whether n shows something or takes touches.
func (n *Node) canBeHit() bool {
	return !n.Hidden && (n.takesTouches() || n.Name() != "" || n.Content() != "" || IsControl(n.RoleName()))
}

// takesTouches reports whether n does something when it is touched.
func (n *Node) takesTouches() bool {
	return n.Clickable || n.LongClickable || n.Checkable || n.Editable || n.Scrollable
}

// stopsTouches reports whether a touch on n does not go through it. A pane, what can be dismissed, such as a notice at
// the bottom of the screen, and a web view stop touches although they are not clickable.
func (n *Node) stopsTouches() bool {
	return !n.Hidden && (n.takesTouches() || n.Dismissable || n.PaneTitle != nil || isWebView(n))
}

// Touch is what a touch at a point does that is meant for a node.
type Touch struct {
	// Hit receives the touch; nil if nothing does.
	Hit *Node
	// Reaches says that Hit is right: the node, what is inside it, what it is inside of, or a layer that takes the touches
	// of the node.
	Reaches bool
	// Over lies above the node at the point, and is taken to let the touch through; nil for none. It may receive the touch
	// all the same.
	Over *Node
}

// Touch returns what a touch at p does that is meant for n. Touches go through what takes none, such as a label that is
// drawn above its button, with two exceptions: a window takes all touches on what it shows, and so does each element of
// a web page and of an opaque tree, unless it is a part of n.
func (t *Tree) Touch(n *Node, p Point) Touch {
	if n.Bounds == nil || !n.Bounds.Contains(p) {
		return Touch{}
	}
	var touch Touch
	window, page := t.window(n), t.around(n, isWebView)
	touch.Hit = t.topmost(p, func(m *Node) bool {
		if !m.stopsTouches() && !m.canBeHit() {
			return false
		}
		if t.IsWithin(m, n) || t.IsWithin(n, m) {
			return true
		}
		samePage := page != nil && t.IsWithin(m, page)
		shown := t.window(m) != window || (samePage || t.Opaque) && !within(n, m)
		if known := !samePage || !unordered(page, p); known && (m.stopsTouches() || shown) {
			return true
		}
		if touch.Over == nil && (m.stopsTouches() || !within(n, m)) {
			touch.Over = m
		}
		return false
	})
	if touch.Hit == nil {
		return touch
	}
	touch.Reaches = t.IsWithin(touch.Hit, n) || t.IsWithin(n, touch.Hit) || t.isLayerOf(touch.Hit, n)
	control := t.around(touch.Hit, (*Node).stopsTouches)
	if over := touch.Over; touch.Reaches && over != nil && !over.stopsTouches() && t.IsWithin(over, control) {
		touch.Over = nil // one control takes the touches of both
	}
	return touch
}

// within reports whether m lies wholly in the bounds of n, as a label of n does.
func within(n, m *Node) bool { return m.Bounds != nil && n.Bounds.Covers(*m.Bounds) }

// unordered reports whether nothing says which elements of a web page are above at p. Nothing reports the order in which
// a page is drawn: it is that of the source, except of headers, which come first and stay above what scrolls.
func unordered(page *Node, p Point) bool {
	return page.Bounds != nil && p.Y < page.Bounds.Top+page.Bounds.Height()/4
}

func isWebView(n *Node) bool { return valueOf(n.Class) == webView }

// around returns the innermost node around n, or n itself, of which is holds; nil without one.
func (t *Tree) around(n *Node, is func(*Node) bool) *Node {
	for ; n != nil && !is(n); n = t.Parent(n) {
		continue
	}
	return n
}

// window returns the root of the window that n is in; nil if the tree does not tell windows apart.
func (t *Tree) window(n *Node) *Node {
	return t.around(n, func(m *Node) bool {
		return slices.ContainsFunc(t.Windows, func(w Window) bool { return w.Root == m })
	})
}

// isLayerOf reports whether layer takes the touches of n, as the transparent layer above the texts of a card: it holds
// nothing, n is in its bounds, and nothing below it takes touches.
func (t *Tree) isLayerOf(layer, n *Node) bool {
	if !layer.takesTouches() || len(layer.Children) > 0 || !within(layer, n) {
		return false
	}
	shared := t.around(layer, func(m *Node) bool { return t.IsWithin(n, m) })
	return !slices.ContainsFunc(t.Descendants(shared), func(m *Node) bool {
		return m != layer && m.stopsTouches() && m.Bounds != nil && t.topmost(m.Bounds.Centre(), (*Node).stopsTouches) == layer
	})
}

// IsWithin reports whether n is outer or below it.
func (t *Tree) IsWithin(n, outer *Node) bool {
	i, known := t.position()[n]
	o, outerKnown := t.position()[outer]
	return known && outerKnown && i >= o && i < t.ends[o]
}
