package mobile

import (
	"context"
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// View implements device.Viewer.
func (d *phone) View(ctx context.Context, o device.ViewOptions) (device.View, error) {
	v, err := d.view(ctx, o)
	if err != nil {
		return device.View{}, lookError(ctx, err)
	}
	return v, nil
}

func (d *phone) view(ctx context.Context, o device.ViewOptions) (v device.View, err error) {
	driver, err := d.waitForDriver(ctx)
	if err != nil {
		return v, err
	}
	if o.Peek {
		return d.peek(ctx, driver, o)
	}
	now, err := d.readSettledOn(ctx, driver)
	if err == nil {
		now, err = driver.withFocus(ctx, now)
	}
	if err != nil {
		return v, err
	}
	v = device.View{Title: d.titleOf(ctx, driver), Tree: now.Tree, Part: now.Tree, Ref: d.seeReferences(now.Tree, d.session.Live)}
	if o.Within != "" {
		if v.Part, err = d.part(now.Tree, o.Within); err != nil {
			return v, err
		}
	}
	if o.Screenshot {
		v.Screenshot, v.Withheld, err = d.safeScreenshot(ctx, driver)
	}
	return v, err
}

// titleOf returns the app in front; "" if it is not known.
func (d *phone) titleOf(ctx context.Context, driver *serial) string {
	front, _ := driver.Foreground(ctx)
	return front
}

// seeReferences returns the references of the elements of a tree. They are positions unless live.
func (d *phone) seeReferences(t *screen.Tree, live bool) func(*screen.Node) string {
	references := d.references
	if !live {
		references = &screen.References{}
	}
	references.See(t)
	return references.Ref
}

// part returns what is in an element, which is named by a reference, or by its id or its whole text.
func (d *phone) part(t *screen.Tree, within string) (*screen.Tree, error) {
	if screen.IsReference(within) {
		n, _, err := d.byReference(t, within, d.session.Live)
		if err != nil {
			return nil, err
		}
		return subtree(t, n), nil
	}
	for _, key := range []string{"id", "text"} {
		named, err := d.elements().core(device.Arguments{key: within})
		if err != nil {
			return nil, err
		}
		if found := t.Resolve(named.selector).Nodes; len(found) > 0 {
			return subtree(t, found[0]), nil
		}
	}
	return nil, fault.New(fault.ToolFailed, "give a reference such as e12, an id, or a whole text", "no element has the id or the text %q", within)
}

// subtree returns the tree below a node.
func subtree(t *screen.Tree, n *screen.Node) *screen.Tree {
	return screen.NewTree(n, t.Width, t.Height, t.Dialects...)
}

// byReference returns the element of a reference, and what a recording says of it if it was rendered anew.
func (d *phone) byReference(t *screen.Tree, ref string, live bool) (n *screen.Node, again string, err error) {
	references := d.references
	if !live {
		references = &screen.References{}
		references.See(t)
	}
	result, err := references.Lookup(ref, t, screen.ToRead) // a key has the name and the row
	if err != nil {
		return nil, "", err
	}
	if result.Again {
		again = fmt.Sprintf("%s is now %s, which was rendered in its place", ref, references.Ref(result.Node))
	}
	return result.Node, again, nil
}

// lookup returns the element of the target's reference. In a live session it also makes the selector by which a
// recording names the element.
func (s *search) lookup(ctx context.Context) ([]*found, error) {
	live := s.phone.session.Live && ctx.Value(callFromTrail{}) == nil
	n, again, err := s.phone.byReference(s.last.Tree, s.target.ref, live)
	if err != nil {
		return nil, err
	}
	e := &found{node: n, match: screen.Match{Nodes: []*screen.Node{n}, Tree: s.last.Tree}, screen: s.last, behind: s.behind(n)}
	if live {
		l := locator{phone: s.phone, screen: s.last, node: n, checksText: s.checksText}
		if s.phone.located, err = l.locate(); err != nil {
			return nil, err
		}
		s.phone.located.Again = again
	}
	return []*found{e}, nil
}

// takeLocated adds to a result how a recording names the element of the call.
func (d *phone) takeLocated(r tool.Result) tool.Result {
	if d.located == nil {
		return r
	}
	l := *d.located
	if redact := d.session.Redact; redact != nil {
		l.Again = redact(l.Again)
		for i, warning := range l.Warnings {
			l.Warnings[i] = redact(warning)
		}
	}
	r.Located = &l
	return r
}
