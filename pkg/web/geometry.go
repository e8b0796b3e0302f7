package web

import (
	"context"
	"errors"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/web/geometry"
)

// peekRounds is how often a picture is taken again because the page changed meanwhile.
const peekRounds = 3

// viewWithPicture returns a view for o with a picture. A page that comes to rest is read between two looks that are the
// same.
func (p *page) viewWithPicture(ctx context.Context, o device.ViewOptions, before device.View) (device.View, error) {
	for round := 1; ; round++ {
		if err := p.addPicture(ctx, &before); err != nil {
			return before, err
		}
		after, err := p.view(ctx, o)
		if err != nil {
			return before, err
		}
		after.Screenshot, after.Withheld = before.Screenshot, before.Withheld
		if after.Withheld == "" && p.hasSecret([]string{before.Tree.Text(screen.TextOptions{Whole: true}).String()}) {
			after.Withheld = "the page shows a secret"
		}
		if round == peekRounds || looksLike(before, after) {
			return after, nil
		}
		before = after
	}
}

// looksLike reports whether two views show the same elements in the same places.
func looksLike(a, b device.View) bool {
	return a.URL == b.URL && a.Geometry == b.Geometry &&
		slices.EqualFunc(a.Tree.Nodes(), b.Tree.Nodes(), func(m, n *screen.Node) bool {
			samePlace := m.Bounds == n.Bounds || m.Bounds != nil && n.Bounds != nil && *m.Bounds == *n.Bounds
			return m.Key == n.Key && samePlace && m.String() == n.String()
		})
}

// setFocus marks the node in a frame, or in the frames inside it, that has the focus.
func (c *pageCapture) setFocus(ctx context.Context, f *frame) error {
	var id int
	err := f.withinSlice(ctx, func(ctx context.Context) error {
		focus, err := f.handle(ctx, "focus")
		if err != nil || focus == nil {
			return err
		}
		id, err = f.backendID(ctx, focus)
		return err
	})
	if err != nil || id == 0 {
		return err
	}
	for _, inner := range c.frames {
		if inner.parent == f && c.parts[inner].owner == id {
			return c.setFocus(ctx, inner)
		}
	}
	n := c.tree.ByKey(c.key(element{f, id}))
	if n == nil {
		return nil
	}
	n.Focused = true
	return f.withinSlice(ctx, func(ctx context.Context) error {
		return f.eval(ctx, "isContentSelected", &n.ContentSelected)
	})
}

// measure finds where the documents of a capture are in the viewport of the page, and sets the bounds and the focus of its
// nodes.
// Documents of frames that are not shown, or do not respond, have none.
func (p *page) measure(ctx context.Context, c *pageCapture) (device.Geometry, error) {
	var view geometry.Viewport
	if err := p.main().eval(ctx, "viewport", &view); err != nil {
		return device.Geometry{}, err
	}
	c.local, c.planes = map[*frame]geometry.Plane{}, map[*frame]geometry.Plane{}
	for _, f := range c.frames { // parents before children
		if err := f.withinSlice(ctx, func(ctx context.Context) error { return c.addPlane(ctx, f, view) }); err != nil {
			return device.Geometry{}, err
		}
	}
	for n, e := range c.elements {
		n.Bounds = c.boundsOf(e)
	}
	if err := c.setFocus(ctx, c.frames[0]); err != nil {
		return device.Geometry{}, err
	}
	return device.Geometry{
		Width: view.WindowWidth, Height: view.WindowHeight, ScrollX: view.ScrollX, ScrollY: view.ScrollY, PixelRatio: view.PixelRatio,
	}, nil
}

// addPlane sets the planes of a frame, if the frame around it has them. view is the viewport of the page.
func (c *pageCapture) addPlane(ctx context.Context, f *frame, view geometry.Viewport) error {
	if f.parent == nil {
		c.local[f] = geometry.Identity()
		c.planes[f] = view.Plane()
		return nil
	}
	around, known := c.planes[f.parent.localRoot()]
	if _, ok := c.planes[f.parent]; !ok || !known {
		return nil
	}
	onto, shown, err := c.frameIn(ctx, f)
	if err != nil || !shown {
		return err
	}
	if c.local[f] = onto; f.localRoot() == f {
		c.local[f] = geometry.Identity()
	}
	c.planes[f] = onto.FollowedBy(around)
	return nil
}

// frameIn returns the plane from the viewport of an inner frame to that of the outermost frame of the process that its
// element is in. It is false for a frame that is not shown.
func (c *pageCapture) frameIn(ctx context.Context, f *frame) (m geometry.Plane, shown bool, err error) {
	size := c.parts[f].viewport
	zoom, err := c.zoom(ctx, f.parent)
	if err != nil || size.Width == 0 || size.Height == 0 {
		return m, false, err
	}
	var box struct {
		Model struct{ Content geometry.Quad }
	}
	err = f.parent.session.Call(ctx, "DOM.getBoxModel", map[string]any{"backendNodeId": c.parts[f].owner}, &box)
	if err != nil || !box.Model.Content.IsValid() {
		return m, false, notRefused(err)
	}
	return box.Model.Content.Plane(size.Width, size.Height, zoom), true, nil
}

// zoom returns by what the browser divides the places of what is in a frame.
func (c *pageCapture) zoom(ctx context.Context, f *frame) (float64, error) {
	if f.parent == nil {
		return 1, nil
	}
	var divided struct{ Quads []geometry.Quad }
	err := f.session.Call(ctx, "DOM.getContentQuads", map[string]any{"backendNodeId": c.parts[f].root}, &divided)
	if err != nil || len(divided.Quads) == 0 || !divided.Quads[0].IsValid() {
		return 1, notRefused(err)
	}
	width := divided.Quads[0].Width()
	if width == 0 {
		return 1, nil
	}
	return c.local[f].Stretch() * c.parts[f].viewport.Width / width, nil
}

// notRefused returns nil for an error that the browser returns of an element without a layout, else err.
func notRefused(err error) error {
	if _, refused := errors.AsType[*cdp.Error](err); refused {
		return nil
	}
	return err
}

// localRoot returns the outermost frame of the process that f is in. The browser gives places in its viewport.
func (f *frame) localRoot() *frame {
	for f.parent != nil && f.parent.session.to.Load() == f.session.to.Load() {
		f = f.parent
	}
	return f
}

// boundsOf returns where an element is in the viewport of the page; nil if that is not known.
func (c *pageCapture) boundsOf(e element) *screen.Rect {
	m, known := c.planes[e.frame]
	if !known { // nobody has asked for bounds
		return nil
	}
	laid, laidOut := c.parts[e.frame].tree.Box(e.id)
	if !laidOut {
		return nil
	}
	view := c.parts[e.frame].viewport
	bounds := m.Bounds(geometry.Box{X: laid[0] - view.ScrollX, Y: laid[1] - view.ScrollY, Width: laid[2], Height: laid[3]})
	return &bounds
}
