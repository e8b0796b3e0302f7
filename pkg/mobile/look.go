package mobile

import (
	"bytes"
	"context"
	"image/png"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// peekRounds is how often a picture is taken again because the screen changed meanwhile.
const peekRounds = 3

// peek returns what is on the screen now, for somebody who looks on. A picture of a screen at rest is taken between two
// reads that are the same.
func (d *phone) peek(ctx context.Context, driver *serial, o device.ViewOptions) (v device.View, err error) {
	now, err := driver.Read(ctx)
	if err != nil {
		return v, err
	}
	for round := 1; o.Screenshot; round++ {
		before := now
		if v.Screenshot, v.Withheld, err = d.safeScreenshot(ctx, driver); err != nil {
			return v, err
		}
		if now, err = driver.Read(ctx); err != nil {
			return v, err
		}
		if v.Withheld == "" {
			v.Withheld = d.shownSecret(before.Tree)
		}
		if round == peekRounds || signature(before.Tree) == signature(now.Tree) {
			break
		}
	}
	if now, err = driver.withFocus(ctx, now); err != nil {
		return v, err
	}
	v.Title, v.Tree, v.Part, v.Ref = d.titleOf(ctx, driver), now.Tree, now.Tree, d.numberReferences(now.Tree)
	v.Geometry = d.geometry(driver, v)
	if o.Within != "" {
		v.Part, err = d.part(now.Tree, o.Within)
	}
	return v, err
}

// numberReferences is seeReferences for a tree that is not shown to the one who makes the calls.
func (d *phone) numberReferences(t *screen.Tree) func(*screen.Node) string {
	if !d.session.Live {
		return d.seeReferences(t, false)
	}
	d.references.Number(t)
	return d.references.Ref
}

// geometry returns how the bounds in a view lie in its picture.
func (d *phone) geometry(driver *serial, v device.View) device.Geometry {
	width, height := v.Tree.Width, v.Tree.Height
	if width == 0 {
		width, height = driver.Info().Width, driver.Info().Height
	}
	g := device.Geometry{Width: float64(width), Height: float64(height)}
	if d.options.Platform == Android {
		g.PixelRatio = 1
	}
	if header, err := png.DecodeConfig(bytes.NewReader(v.Screenshot)); err == nil && width > 0 {
		g.PixelRatio = float64(header.Width) / float64(width)
	}
	return g
}

// Locate implements device.Locator.
func (d *phone) Locate(ctx context.Context, at device.Place) (device.Location, error) {
	found, err := d.locate(ctx, at)
	if err != nil {
		return device.Location{}, lookError(ctx, err)
	}
	return found, nil
}

func (d *phone) locate(ctx context.Context, at device.Place) (found device.Location, err error) {
	driver, err := d.waitForDriver(ctx)
	if err != nil {
		return found, err
	}
	now, err := driver.Read(ctx)
	if err != nil {
		return found, err
	}
	ref := d.numberReferences(now.Tree)
	if at.Ref != "" {
		found.Node, _, err = d.byReference(now.Tree, at.Ref, d.session.Live)
	} else {
		found.Node, err = pointedAt(now.Tree, at.Point)
	}
	if err != nil {
		return found, err
	}
	found.Ref = ref(found.Node)
	for c := range (locator{phone: d, screen: now, node: found.Node}).candidates() {
		if !device.HasSelector(found.Candidates, c.Selector) {
			found.Candidates = append(found.Candidates, c)
		}
	}
	return found, nil
}

// pointedAt returns what a person means by a point: the control there, else the innermost element that shows something.
func pointedAt(t *screen.Tree, p screen.Point) (*screen.Node, error) {
	hit := t.At(p)
	if hit == nil {
		return nil, fault.New(fault.ToolFailed, "point at a text or a control; tapOnPoint taps a place without an element",
			"nothing on the screen at %d,%d can be named", p.X, p.Y)
	}
	for n := hit; n != nil; n = t.Parent(n) {
		if n.Clickable || n.LongClickable || n.Checkable || n.Editable || screen.IsControl(n.RoleName()) {
			return n, nil
		}
	}
	return hit, nil
}

// lookError returns what looking at the screen failed with, as a *fault.Error.
func lookError(ctx context.Context, err error) error {
	switch known := fault.As(err); {
	case known != nil:
		return known
	case ctx.Err() != nil:
		return fault.Wrap(fault.CallTimeout, err, "", "the device did not show its screen in time")
	}
	return fault.Wrap(fault.ToolFailed, err, "", "read the screen")
}
