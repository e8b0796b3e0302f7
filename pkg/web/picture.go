package web

import (
	"context"
	"errors"
	"image"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/picture"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/geometry"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// pictureCommand describes verifyScreenshot.
func pictureCommand() command {
	return newCommand("verifyScreenshot",
		"Fails unless the page, or an element, looks as in a picture beside the trail.",
		picture.Properties+`, "fullPage": {"type": "boolean", "default": false, "description": "The whole page, not only what is in the window"},
			"mask": {"type": "array", "items": {"type": "object", "additionalProperties": false, "minProperties": 1, "properties": {`+
			syntax.ElementReference()+`}}, "description": "Elements that may look different"}, `+syntax.ElementProperties(),
		webVerifyScreenshot, "name").checkedBy(checkPicture)
}

// checkPicture checks the arguments of verifyScreenshot.
func checkPicture(args syntax.Arguments) error {
	_, err := maskTargets(args)
	if args.Flag("fullPage", false) && (args.Has("ref") || args.Has("nodeSelector")) {
		err = errors.Join(err, fault.New(fault.InvalidArguments, "leave out one of them", "fullPage is the page, not an element"))
	}
	return errors.Join(picture.CheckName(args.Text("name")), checkOptionalElement(args), err)
}

// maskTargets returns the elements that may look different.
func maskTargets(args syntax.Arguments) ([]syntax.Target, error) {
	var targets []syntax.Target
	list, _ := args["mask"].([]any)
	for _, item := range list {
		given, _ := item.(map[string]any)
		t, err := syntax.ElementOf(given)
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

func webVerifyScreenshot(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	shot := &pageShot{page: p, fullPage: a.Flag("fullPage", false), strict: p.strict(a)}
	var err error
	if a.Has("ref") || a.Has("nodeSelector") {
		var t syntax.Target
		if t, err = syntax.ElementOf(a); err != nil {
			return tool.Result{}, err
		}
		shot.element = &t
	}
	if shot.masks, err = maskTargets(a); err != nil {
		return tool.Result{}, err
	}
	defer shot.resume(context.WithoutCancel(ctx))
	return p.device.session.Baselines.Verify(ctx, picture.Check{
		Name: a.Text("name"), Threshold: a.Number("threshold", picture.DefaultThreshold),
		MaxDiffRatio: a.Number("maxDiffRatio", picture.DefaultMaxDiffRatio),
		Limit:        p.assertionLimit(ctx, a), Pause: 3 * pollInterval, Take: shot.take,
	})
}

// pageShot takes pictures of a page whose animations and caret are stopped.
type pageShot struct {
	page             *page
	element          *syntax.Target // nil for the page
	masks            []syntax.Target
	fullPage, strict bool
}

// take implements picture.Check.
func (s *pageShot) take(ctx context.Context) (*image.RGBA, error) {
	for _, f := range s.page.frames() {
		if err := f.eval(ctx, "stopAnimations", nil); err != nil && !errors.Is(err, errGone) {
			return nil, err
		}
	}
	part, err := s.boxOfElement(ctx)
	if err != nil {
		return nil, err
	}
	masks, err := s.boxesOfMasks(ctx)
	if err != nil {
		return nil, err
	}
	var view geometry.Viewport
	if err := s.page.main().eval(ctx, "viewport", &view); err != nil {
		return nil, err
	}
	whole := s.fullPage || part != nil && (part.Width > view.Width || part.Height > view.Height)
	params := map[string]any{"format": "png"}
	if whole {
		params["captureBeyondViewport"] = true
		params["clip"] = map[string]any{"x": 0, "y": 0, "width": view.PageWidth, "height": view.PageHeight, "scale": 1}
	}
	data, err := s.page.screenshotAs(ctx, params)
	if err != nil {
		return nil, err
	}
	taken, err := picture.DecodePNG(data)
	if err != nil {
		return nil, fault.Wrap(fault.ToolFailed, err, "", "read the screenshot")
	}
	width, left, top := view.Width, 0.0, 0.0
	if whole {
		width, left, top = view.PageWidth, view.ScrollX, view.ScrollY
	}
	scale := float64(taken.Rect.Dx()) / max(1, width)
	var masked []image.Rectangle
	for _, m := range masks {
		masked = append(masked, m.Scaled(left, top, scale))
	}
	picture.Mask(taken, masked)
	if part == nil {
		return taken, nil
	}
	return picture.Crop(taken, part.Scaled(left, top, scale)), nil
}

// boxOfElement waits until the element is visible and scrolls it into view. It returns nil for a whole page.
func (s *pageShot) boxOfElement(ctx context.Context) (*geometry.Box, error) {
	if s.element == nil {
		return nil, nil //nolint:nilnil // there is no element
	}
	deadline, _ := ctx.Deadline() // Verify sets one; what is missing is said before it
	o, err := s.page.search(*s.element, check{name: "box", want: "visible", unique: s.strict}).do(ctx, time.Until(deadline)*3/4, nil)
	if err != nil {
		return nil, err
	}
	b, err := s.page.inPage(ctx, o.frame, geometry.Box{X: o.X, Y: o.Y, Width: o.Width, Height: o.Height})
	return &b, err
}

// boxesOfMasks returns the boxes of all elements that may look different, in all frames.
func (s *pageShot) boxesOfMasks(ctx context.Context) ([]geometry.Box, error) {
	var found []geometry.Box
	for _, t := range s.masks {
		if t.Spec == nil {
			o, err := s.page.search(t, check{name: "box"}).do(ctx, 0, nil)
			if err != nil {
				continue // what is not there needs no mask
			}
			b, err := s.page.inPage(ctx, o.frame, geometry.Box{X: o.X, Y: o.Y, Width: o.Width, Height: o.Height})
			if err != nil {
				return nil, err
			}
			found = append(found, b)
			continue
		}
		for _, f := range s.page.frames() {
			var boxes []geometry.Box
			if err := f.eval(ctx, "boxes", &boxes, t.Spec); err != nil && !errors.Is(err, errGone) {
				return nil, err
			}
			for _, b := range boxes {
				b, err := s.page.inPage(ctx, f, b)
				if err != nil {
					return nil, err
				}
				found = append(found, b)
			}
		}
	}
	return found, nil
}

// inPage converts a box in the viewport of a frame to that of the page.
func (p *page) inPage(ctx context.Context, f *frame, b geometry.Box) (geometry.Box, error) {
	for ; f.parent != nil; f = f.parent {
		owner, err := p.frameElement(ctx, f)
		if err != nil {
			return geometry.Box{}, err
		}
		var around geometry.Box
		err = f.parent.eval(ctx, "contentBox", &around, owner)
		owner.release()
		if err != nil {
			return geometry.Box{}, err
		}
		b.X, b.Y = b.X+around.X, b.Y+around.Y
	}
	return b, nil
}

// resume undoes what take did to the page.
func (s *pageShot) resume(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.page.limits().response)
	defer cancel()
	for _, f := range s.page.frames() {
		_ = f.eval(ctx, "resumeAnimations", nil) // a frame that is gone has none
	}
}
