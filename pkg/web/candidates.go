package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/web/aria"
	"github.com/trailblaze/trailblaze/pkg/web/locate"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// Locate implements device.Locator.
func (d *webDevice) Locate(ctx context.Context, at device.Place) (found device.Location, err error) {
	err = d.onPage(ctx, func(ctx context.Context, p *page) error {
		found, err = p.locate(ctx, at)
		return err
	})
	if err != nil {
		return device.Location{}, lookError(ctx, err)
	}
	return found, nil
}

// locate finds the element at a place and the selectors for it, again while the page changes meanwhile.
func (p *page) locate(ctx context.Context, at device.Place) (device.Location, error) {
	ctx, stop := boundedBy(ctx, p.ctx)
	defer stop()
	if p.device.asking.asks(p) {
		return device.Location{}, errAsking()
	}
	s := p.search(syntax.NewTarget("the element"), check{unique: p.strict(nil)})
	for changes := p.newChangeWatcher(); ; changes.wait(ctx, minPause, pollInterval) {
		found, err := s.locateAt(ctx, at)
		switch {
		case p.closed():
			return found, p.closeError()
		case !errors.Is(err, errGone) || ctx.Err() != nil:
			return found, err
		}
	}
}

// locateAt returns the element at a place now. The error is errGone when the page changed meanwhile.
func (s *search) locateAt(ctx context.Context, at device.Place) (device.Location, error) {
	s.page.device.pointed.Store(true)
	if before, same := s.page.recall(ctx); same {
		found, err := s.locateIn(before, at, true)
		if err == nil && found.Node.Kind == "" && !aria.IsField(found.Node) { // what a field holds may have changed
			return found, nil
		}
	}
	found, err := s.locateIn(s.page.keep(ctx), at, false)
	if err != nil {
		s.page.kept.Store(nil)
	}
	return found, err
}

// locateIn returns the element at a place of the page as the context has it, recalled or read now.
func (s *search) locateIn(ctx context.Context, at device.Place, recalled bool) (found device.Location, err error) {
	c, err := s.page.captureAll(ctx)
	if err != nil {
		return found, err
	}
	c.recalled = recalled
	geometry, err := s.page.measure(ctx, c)
	if err != nil {
		return found, err
	}
	references := s.page.device.references
	references.Number(c.tree)
	if at.Ref != "" {
		shown, err := references.Lookup(at.Ref, c.tree, screen.ToRead)
		if err != nil {
			return found, err
		}
		found.Node = shown.Node
	} else if found.Node, err = c.pointedAt(ctx, at.Point, geometry); err != nil {
		return found, err
	}
	found.Ref = references.Ref(found.Node)
	s.target.Ref = found.Ref // for messages
	found.Candidates, err = s.candidates(ctx, c, found.Node, at.Best)
	return found, err
}

// candidates returns the selectors that find an element of a capture, or only the best.
func (s *search) candidates(ctx context.Context, c *pageCapture, n *screen.Node, best bool) ([]device.Candidate, error) {
	m := &marked{search: s, element: c.elements[n], mark: int(s.page.device.marks.Add(1))}
	facts, err := m.setMark(ctx, n)
	if err != nil {
		return nil, err
	}
	if facts == nil {
		return nil, fault.New(fault.ToolFailed, "", "the frame of %s does not respond", n)
	}
	defer m.removeMark(ctx)
	e := locate.Element{Node: n, Tree: c.tree, Facts: *facts}
	if !best {
		return locate.Candidates(ctx, m, e)
	}
	first, found, err := locate.Best(ctx, m, e)
	if err != nil || !found {
		return nil, err
	}
	return []device.Candidate{first}, nil
}

// pointedAt returns what a person means by a point of the viewport: the control there, or that of a label, else the
// innermost element. One of several items, such as a cell, counts more than what can be clicked around all of them, and
// an element without a role more than what has others in it, too.
func (c *pageCapture) pointedAt(ctx context.Context, at screen.Point, g device.Geometry) (*screen.Node, error) {
	x, y := float64(at.X), float64(at.Y)
	if x < 0 || y < 0 || x >= g.Width || y >= g.Height {
		return nil, fault.New(fault.InvalidArguments, "give pixels of the viewport, from its top left corner",
			"%d,%d is outside of the page, which shows %.0fx%.0f pixels", at.X, at.Y, g.Width, g.Height)
	}
	hit, err := c.elementAt(ctx, x, y)
	if err != nil {
		return nil, err
	}
	var innermost, item *screen.Node
	for {
		tree := c.parts[hit.frame].tree
		if c.recalled && !tree.Shows(hit.id) {
			return nil, errGone // it was added or shown without a trace
		}
		for _, id := range tree.Around(hit.id) {
			n := c.tree.ByKey(c.key(element{hit.frame, id}))
			switch {
			case n == nil:
			case item != nil && !screen.IsControl(n.RoleName()):
			case screen.IsControl(n.RoleName()) || n.Clickable:
				return n, nil
			default:
				innermost = cmp.Or(innermost, n)
				if n.IsItem() {
					item = n
				}
			}
		}
		if innermost == nil || !c.stands(innermost, hit) {
			innermost = cmp.Or(c.plain(hit), innermost)
		}
		if innermost != nil || hit.frame.parent == nil {
			break
		}
		hit = element{hit.frame.parent, c.parts[hit.frame].owner}
	}
	if innermost == nil {
		return nil, fault.New(fault.ToolFailed, "point at a text or a control", "nothing on the page at %d,%d can be named", at.X, at.Y)
	}
	return innermost, nil
}

// stands reports whether a click on n is one on the element e in it.
func (c *pageCapture) stands(n *screen.Node, e element) bool {
	around, tree := c.elements[n], c.parts[e.frame].tree
	hasOthers := screen.HasParts(n.RoleName()) || n.IsItem()
	return around == e || !hasOthers || tree.ShownText(around.id) == tree.ShownText(e.id)
}

// plain returns an element that is not in the tree; nil if the page does not have it any more.
func (c *pageCapture) plain(e element) *screen.Node {
	n := c.parts[e.frame].tree.Plain(c.parts[e.frame].document, e.id)
	if n != nil {
		c.elements[n], n.Bounds = e, c.boundsOf(e)
	}
	return n
}

// key returns the key of an element in the tree.
func (c *pageCapture) key(e element) screen.Key {
	return screen.Key(fmt.Sprintf("%s/%d", c.parts[e.frame].document, e.id))
}

// elementAt returns the innermost element at a point of the viewport of the page, in whatever frame. The error is
// errGone when the page changed since the capture.
func (c *pageCapture) elementAt(ctx context.Context, x, y float64) (element, error) {
	for f := c.frames[0]; ; {
		back, ok := c.planes[f].Inverse()
		if !ok {
			return element{}, errGone
		}
		inX, inY := back.Apply(x, y)
		hit, err := c.hit(ctx, f, inX, inY)
		if err != nil {
			return hit, err
		}
		inner := c.otherProcess(hit)
		if inner == nil {
			return hit, nil
		}
		f = inner
	}
}

// hit returns the innermost element at a point of the viewport of a frame, in the frames of the same process.
func (c *pageCapture) hit(ctx context.Context, f *frame, x, y float64) (element, error) {
	view := c.parts[f].viewport
	zoom, err := c.zoom(ctx, f)
	if err != nil {
		return element{}, err
	}
	var hit struct {
		ID      int `json:"backendNodeId"`
		FrameID string
	}
	err = f.session.Call(ctx, "DOM.getNodeForLocation", map[string]any{
		"x": int((x + view.ScrollX) / zoom), "y": int((y + view.ScrollY) / zoom),
	}, &hit)
	if _, refused := errors.AsType[*cdp.Error](err); refused {
		return element{}, fault.New(fault.ToolFailed, "point at a text or a control", "nothing on the page is there: %v", err)
	}
	if err != nil {
		return element{}, err
	}
	f.page.mu.Lock()
	inner := f.page.framesByID[hit.FrameID]
	f.page.mu.Unlock()
	if c.parts[inner].tree == nil {
		return element{}, errGone // the frame was added after the capture
	}
	if inner == f { // the browser answers with the host for a text in a slot
		hit.ID = c.parts[f].tree.InSlot(hit.ID, x+view.ScrollX, y+view.ScrollY)
	}
	return element{inner, hit.ID}, nil
}

// otherProcess returns the frame in the element e, if it is in another process and was captured; else nil.
func (c *pageCapture) otherProcess(e element) *frame {
	for _, f := range c.frames {
		if f.parent == e.frame && c.parts[f].owner == e.id && f.localRoot() == f {
			return f
		}
	}
	return nil
}
