package mobile

import (
	"context"
	"maps"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// asksForFocus reports whether the tree of the device does not say which field the keyboard types into.
func (s *serial) asksForFocus() bool {
	_, ok := s.driver.(FocusReader)
	return ok
}

// withFocus returns a screen that was read, in which the field that the keyboard types into is focused. Nothing is asked
// of a device whose tree says so, or when the screen has no field.
func (s *serial) withFocus(ctx context.Context, now Screen) (Screen, error) {
	reader, ok := s.driver.(FocusReader)
	if !ok {
		return now, nil
	}
	var at *screen.Rect
	if slices.ContainsFunc(now.Tree.Nodes(), isField) {
		var err error
		at, err = exclusive(ctx, s, func(ctx context.Context, _ Driver) (*screen.Rect, error) { return reader.Focus(ctx) })
		if err != nil {
			return now, err
		}
	}
	now.Tree = focused(now.Tree, fieldAt(now.Tree, at))
	return now, nil
}

// fieldAt returns the field with bounds, or around an element that it consists of; nil for none.
func fieldAt(t *screen.Tree, at *screen.Rect) (field *screen.Node) {
	if at == nil {
		return nil
	}
	for _, n := range t.Nodes() {
		switch {
		case !isField(n) || n.Bounds == nil:
		case *n.Bounds == *at:
			return n
		case n.Bounds.Intersect(*at) == *at:
			field = n
		}
	}
	return field
}

// focused returns a copy of a tree of iOS in which one field has the focus, or none for nil. Other goroutines may use the
// tree itself.
func focused(t *screen.Tree, field *screen.Node) *screen.Tree {
	var copyOf func(*screen.Node) *screen.Node
	copyOf = func(n *screen.Node) *screen.Node {
		c := *n
		c.Focused = n == field
		c.Children = make([]*screen.Node, len(n.Children))
		for i, child := range n.Children {
			c.Children[i] = copyOf(child)
		}
		return &c
	}
	marked := screen.NewTree(copyOf(t.Root()), t.Width, t.Height, t.Dialects...)
	marked.Unavailable = maps.Clone(t.Unavailable)
	delete(marked.Unavailable, string(screen.IOSMaestro)+".focused")
	return marked
}
