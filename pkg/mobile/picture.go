package mobile

import (
	"context"
	"errors"
	"image"
	"math"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/picture"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// pictureCommand describes verifyScreenshot.
func pictureCommand(p Platform) command {
	properties := picture.Properties + ", " + elementProperties(p) + `, "mask": {"type": "array", "items": {"type": "object",
		"additionalProperties": false, "minProperties": 1, "properties": {` + elementProperties(p) + `}},
		"description": "Elements that may look different; bars of the system always may"}`
	c := newCommand("verifyScreenshot", "Fails unless the screen, or an element, looks as in a picture beside the trail.",
		properties, verifyScreenshot, "name")
	return c.checkedBy(func(a device.Arguments) error {
		_, err := pictureTargets(elements{platform: p}, a)
		return errors.Join(picture.CheckName(a.Text("name")), err)
	})
}

// pictureTarget is what a picture shows, and what in it may look different.
type pictureTarget struct {
	element *target // nil for the screen
	masks   []target
}

func pictureTargets(e elements, a device.Arguments) (pictureTarget, error) {
	var t pictureTarget
	for _, key := range []string{"nodeSelector", "selector", "ref", "text", "id"} {
		if t.element == nil && a.Has(key) {
			element, err := e.targetOf(a)
			if err != nil {
				return t, err
			}
			t.element = &element
		}
	}
	list, _ := a["mask"].([]any)
	for _, item := range list {
		given, _ := item.(map[string]any)
		mask, err := e.targetOf(given)
		if err != nil {
			return t, err
		}
		t.masks = append(t.masks, mask)
	}
	return t, nil
}

func verifyScreenshot(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	t, err := pictureTargets(d.elements(), a)
	if err != nil {
		return tool.Result{}, err
	}
	limit := waitLimit(ctx, a, d.limits.Assertion)
	return d.session.Baselines.Verify(ctx, picture.Check{
		Name: a.Text("name"), Threshold: a.Number("threshold", picture.DefaultThreshold),
		MaxDiffRatio: a.Number("maxDiffRatio", picture.DefaultMaxDiffRatio), Limit: limit, Pause: d.limits.Stable,
		Take: func(ctx context.Context) (*image.RGBA, error) { return d.shownPicture(ctx, t) },
	})
}

var errBlack = errors.New("the screenshot is black")

// shownPicture is picture of a screen that is not black, as it may be for a moment between two others.
func (d *phone) shownPicture(ctx context.Context, t pictureTarget) (*image.RGBA, error) {
	for black := false; ; black = true {
		taken, err := d.picture(ctx, t)
		if !errors.Is(err, errBlack) && (!black || ctx.Err() == nil) {
			return taken, err
		}
		if act.Pause(ctx, d.limits.Stable) != nil {
			return nil, fault.New(fault.ToolFailed, "", "%v: %s", errBlack, whyBlack)
		}
	}
}

// picture takes a picture of the screen or an element, in which the bars of the system and what may look different are
// painted over.
func (d *phone) picture(ctx context.Context, t pictureTarget) (*image.RGBA, error) {
	var part *screen.Rect
	if t.element != nil {
		deadline, _ := ctx.Deadline() // Verify sets one
		o, err := d.search(*t.element).action("visible", time.Until(deadline), nil).Do(ctx)
		if err != nil {
			return nil, err
		}
		part = &o.Element.part
	}
	now, err := d.driver.Read(ctx)
	if err != nil {
		return nil, err
	}
	bars := d.systemBars(ctx, now)
	var masks []screen.Rect
	for _, m := range t.masks {
		s := d.search(m)
		list, err := s.find(ctx)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if e.node.Bounds != nil {
				masks = append(masks, *e.node.Bounds)
			}
		}
	}
	data, err := d.driver.Screenshot(ctx)
	if err != nil {
		return nil, err
	}
	taken, err := picture.DecodePNG(data)
	if err != nil {
		return nil, fault.Wrap(fault.ToolFailed, err, "", "read the screenshot")
	}
	scale := float64(taken.Rect.Dx()) / float64(max(1, now.Tree.Width)) // pixels of a point, on iOS
	scaledBars := scaleRects(bars, scale)
	if picture.IsBlack(taken, scaledBars) {
		return nil, errBlack
	}
	picture.Mask(taken, append(scaledBars, scaleRects(masks, scale)...))
	if part == nil {
		return taken, nil
	}
	return picture.Crop(taken, scaleRect(*part, scale)), nil
}

func scaleRects(list []screen.Rect, scale float64) (scaled []image.Rectangle) {
	for _, r := range list {
		scaled = append(scaled, scaleRect(r, scale))
	}
	return scaled
}

func scaleRect(r screen.Rect, scale float64) image.Rectangle {
	at := func(v int) int { return int(math.Round(float64(v) * scale)) }
	return image.Rect(at(r.Left), at(r.Top), at(r.Right), at(r.Bottom))
}

// systemBars returns where the system shows the time, the battery and its own buttons. An iPhone that is turned shows no
// status bar.
func (d *phone) systemBars(ctx context.Context, now Screen) []screen.Rect {
	tree := now.Tree
	if tree.Width > tree.Height && !d.driver.Info().Tablet {
		return now.Bars
	}
	return append([]screen.Rect{{Right: tree.Width, Bottom: d.driver.statusBar(ctx)}}, now.Bars...)
}
