package screen

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

// Covers reports whether all of other is in r.
func (r Rect) Covers(other Rect) bool { return r.Intersect(other) == other }

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
