package gesture

import (
	"math"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// onPage is [Calls] for web pages.
func onPage(a Act, at, to Target) (Result, error) {
	if a.Kind == "wheel" {
		return Result{Calls: scrollCalls(a, at), Unrecorded: true}, nil
	}
	if at.nodeSelector() == nil {
		return Result{}, unnamed()
	}
	switch a.Kind {
	case "click":
		return clickOnPage(a, at)
	case "doubleClick":
		return made(clickCall(a, at, "count", 2))
	case "middleClick":
		return made(clickCall(a, at, "button", "MIDDLE"))
	case "rightClick":
		return made(clickCall(a, at, "button", "RIGHT"))
	case "drag":
		return dragOnPage(a, at, to)
	case "longPress":
		return Result{}, fault.New(fault.InvalidArguments, "click, double-click or drag it", "web pages have no long press")
	}
	return Result{}, unknownKind(a)
}

func unnamed() error {
	return fault.New(fault.InvalidArguments, "point at a text or a control, or wait until the page shows it", "nothing that a call could name is there")
}

func clickOnPage(a Act, at Target) (Result, error) {
	if ask := questionOf(at); ask != nil && len(a.Modifiers) == 0 {
		return Result{Ask: ask}, nil
	}
	if state, toggles := toggled(at.Element); toggles && len(a.Modifiers) == 0 {
		return made(call("web_setChecked", map[string]any{"nodeSelector": at.nodeSelector(), "checked": state}))
	}
	return made(clickCall(a, at))
}

// clickCall returns a click with further arguments, as pairs of name and value.
func clickCall(a Act, at Target, more ...any) trail.Call {
	args := map[string]any{"nodeSelector": at.nodeSelector()}
	for i := 0; i < len(more); i += 2 {
		args[more[i].(string)] = more[i+1] //nolint:errcheck,forcetypeassert // written in this file
	}
	if len(a.Modifiers) > 0 {
		args["modifiers"] = texts(a.Modifiers)
	}
	if position := positionOf(a.X, a.Y, at.Element, hasPlaces); position != nil {
		args["position"] = position
	}
	return call("web_click", args)
}

// toggled returns the state that a click gives a check box, a radio button or a switch; toggles is false for other
// elements, and where a click does not change the state to one that is known.
func toggled(e live.Element) (checked, toggles bool) {
	has := func(state string) bool { return slices.Contains(e.States, state) }
	switch e.Role {
	case "checkbox", "switch":
		return !has("checked"), !has("checked=mixed")
	case "radio":
		return true, !has("checked")
	}
	return false, false
}

// isSurface reports whether it matters where in an element a person clicks.
func isSurface(e live.Element) bool {
	return e.Role == "slider" || e.Role == "img" || screen.IsStructural(e.Role)
}

// hasPlaces is isSurface for elements of pages, which may have others in them.
func hasPlaces(e live.Element) bool { return isSurface(e) || screen.HasParts(e.Role) }

// always is for [positionOf] where each place in an element has its own meaning.
func always(live.Element) bool { return true }

// positionOf returns where in an element a point is, if that matters and the point is not near the middle; else nil.
func positionOf(x, y float64, e live.Element, matters func(live.Element) bool) map[string]any {
	if e.Bounds == nil || !matters(e) {
		return nil
	}
	inX, inY := x-float64(e.Bounds.Left), y-float64(e.Bounds.Top)
	width, height := float64(e.Bounds.Width()), float64(e.Bounds.Height())
	if inX < 0 || inY < 0 || inX > width || inY > height {
		return nil
	}
	if math.Abs(inX-width/2) <= near && math.Abs(inY-height/2) <= near {
		return nil
	}
	return map[string]any{"x": int(inX), "y": int(inY)}
}

// near is how far from the middle of an element a person points who means the element, in CSS pixels.
const near = 8

// dragOnPage returns a drag from one element to another one, or within one.
func dragOnPage(a Act, at, to Target) (Result, error) {
	if to.nodeSelector() == nil {
		return Result{}, unnamed()
	}
	return made(call("web_dragTo", map[string]any{
		"from": dragEnd(a.X, a.Y, at), "to": dragEnd(a.ToX, a.ToY, to),
	}))
}

func dragEnd(x, y float64, t Target) map[string]any {
	end := map[string]any{"nodeSelector": t.nodeSelector()}
	if position := positionOf(x, y, t.Element, always); position != nil {
		end["position"] = position
	}
	return end
}

// scrollCalls returns what moves the content under the wheel of a mouse.
func scrollCalls(a Act, at Target) (calls []trail.Call) {
	scroll := func(amount float64, forward, back string) {
		if amount == 0 {
			return
		}
		args := map[string]any{"direction": forward, "amount": math.Abs(amount)}
		if amount < 0 {
			args["direction"] = back
		}
		if selector := at.nodeSelector(); selector != nil {
			args["nodeSelector"] = selector
		}
		calls = append(calls, call("web_scroll", args))
	}
	scroll(a.DY, "DOWN", "UP")
	scroll(a.DX, "RIGHT", "LEFT")
	return calls
}

// texts returns strings as a value of arguments.
func texts(all []string) []any {
	values := make([]any, len(all))
	for i, text := range all {
		values[i] = text
	}
	return values
}
