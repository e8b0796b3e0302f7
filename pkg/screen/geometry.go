package screen

import (
	"cmp"
	"slices"
)

// Point is a place on the screen, in the unit of the bounds.
type Point struct{ X, Y int }

// Rect is a rectangle. Right and bottom are outside it.
type Rect struct {
	Left   int `json:"left"`
	Top    int `json:"top"`
	Right  int `json:"right"`
	Bottom int `json:"bottom"`
}

// Width returns the width, negative when right is left of left.
func (r Rect) Width() int { return r.Right - r.Left }

// Height returns the height, negative when bottom is above top.
func (r Rect) Height() int { return r.Bottom - r.Top }

// Empty reports whether r has no area.
func (r Rect) Empty() bool { return r.Right <= r.Left || r.Bottom <= r.Top }

// Centre returns the middle of r, with integer division.
func (r Rect) Centre() Point { return Point{(r.Left + r.Right) / 2, (r.Top + r.Bottom) / 2} }

// Contains reports whether p is in r.
func (r Rect) Contains(p Point) bool {
	return p.X >= r.Left && p.X < r.Right && p.Y >= r.Top && p.Y < r.Bottom
}

// Intersect returns the part that r and other share; it is Empty when they share none.
func (r Rect) Intersect(other Rect) Rect {
	return Rect{
		max(r.Left, other.Left), max(r.Top, other.Top), min(r.Right, other.Right), min(r.Bottom, other.Bottom),
	}
}

// VisiblePart returns what the screen and the scrollable elements around n leave of its bounds. It is false when
// nothing is left, when n has no bounds, and when n is not in the tree.
func (t *Tree) VisiblePart(n *Node) (Rect, bool) {
	i, ok := t.position()[n]
	if !ok || n.Bounds == nil {
		return Rect{}, false
	}
	part := *n.Bounds
	if t.Width > 0 && t.Height > 0 {
		part = part.Intersect(Rect{0, 0, t.Width, t.Height})
	}
	for up := t.parents[i]; up >= 0; up = t.parents[up] {
		if around := t.nodes[up]; around.Scrollable && around.Bounds != nil {
			part = part.Intersect(*around.Bounds)
		}
	}
	return part, !part.Empty()
}

// At returns the topmost node at a point, of those that show something or receive touches; nil when there is none.
// Touches on containers that do neither reach the nodes below them.
func (t *Tree) At(p Point) *Node {
	if len(t.nodes) == 0 {
		return nil
	}
	screen := Rect{0, 0, t.Width, t.Height}
	if !screen.Empty() && !screen.Contains(p) {
		return nil
	}
	return topmost(t.nodes[0], p)
}

// topmost searches n and what is below it; what is drawn last comes first.
func topmost(n *Node, p Point) *Node {
	inside := n.Bounds != nil && n.Bounds.Contains(p)
	if n.Scrollable && n.Bounds != nil && !inside {
		return nil // what it holds is clipped
	}
	for _, child := range slices.Backward(inDrawingOrder(n.Children)) {
		if hit := topmost(child, p); hit != nil {
			return hit
		}
	}
	if inside && n.canBeHit() {
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
	if n.Hidden {
		return false
	}
	return n.takesTouches() || n.Name() != "" || n.Content() != "" || IsControl(n.RoleName())
}

func (n *Node) takesTouches() bool {
	return n.Clickable || n.LongClickable || n.Checkable || n.Editable || n.Scrollable
}

// Receives reports whether a touch at a point reaches n: the topmost node there is n, or is inside n, or has n inside
// it because n itself neither shows anything nor takes touches.
func (t *Tree) Receives(n *Node, p Point) bool {
	hit := t.At(p)
	return hit != nil && n.Bounds != nil && n.Bounds.Contains(p) && (t.isWithin(hit, n) || t.isWithin(n, hit))
}

// isWithin reports whether n is outer or below it.
func (t *Tree) isWithin(n, outer *Node) bool {
	i, known := t.position()[n]
	o, outerKnown := t.position()[outer]
	return known && outerKnown && i >= o && i < t.ends[o]
}
