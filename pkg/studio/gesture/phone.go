package gesture

import (
	"math"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// onPhone is [Calls] for Android and iOS.
func onPhone(d Device, a Act, at, to Target) (Result, error) {
	switch a.Kind {
	case "click":
		return made(tapCall(a, at, false))
	case "longPress", "rightClick":
		return made(tapCall(a, at, true))
	case "middleClick":
		return Result{}, fault.New(fault.InvalidArguments, "tap it", "phones have no middle button")
	case "doubleClick":
		if at.nodeSelector() == nil {
			return Result{}, fault.New(fault.InvalidArguments, "point at a text or a control",
				"a double tap needs an element, and nothing there can be named")
		}
		return made(call("mobile_doubleTap", map[string]any{"nodeSelector": at.nodeSelector()}))
	case "drag":
		return made(dragOnPhone(d, a, at, to))
	case "wheel":
		return Result{Calls: []trail.Call{wheelOnPhone(d, a)}, Unrecorded: true}, nil
	}
	return Result{}, unknownKind(a)
}

// tapCall returns a tap on an element, or on the point where nothing can be named or its place matters.
func tapCall(a Act, at Target, long bool) trail.Call {
	tool, args := "tapOnElementBySelector", map[string]any{"nodeSelector": at.nodeSelector()}
	if at.nodeSelector() == nil || positionOf(a.X, a.Y, at.Element, at.isPhoneSurface) != nil {
		tool, args = "tapOnPoint", map[string]any{"x": int(a.X), "y": int(a.Y)}
	}
	if long {
		args["longPress"] = true
	}
	return call(tool, args)
}

// isPhoneSurface reports whether it matters where in the element a person taps: on a slider, and in a picture or a part of
// the screen that only its class names, such as a map. A row with a text is tapped as a whole.
func (t Target) isPhoneSurface(e live.Element) bool {
	by := t.Candidates[0].By
	return e.Role == "slider" || isSurface(e) && strings.HasPrefix(by, "class") && !strings.HasSuffix(by, "a text in it")
}

// dragOnPhone returns what a finger does that moves from one point to another one: a swipe, or after a long press a drag.
func dragOnPhone(d Device, a Act, at, to Target) trail.Call {
	from, onto := at.nodeSelector(), to.nodeSelector()
	switch {
	case a.Hold && from != nil && onto != nil && at.Element.Ref != to.Element.Ref && d.has("dragTo"):
		return call("dragTo", map[string]any{
			"from": map[string]any{"nodeSelector": from}, "to": map[string]any{"nodeSelector": onto},
		})
	case a.Hold || at.Element.Role == "slider":
		return dragCall(d, a.X, a.Y, a.ToX, a.ToY)
	}
	return call("swipeWithRelativeCoordinates", map[string]any{
		"startRelative": d.relative(a.X, a.Y), "endRelative": d.relative(a.ToX, a.ToY),
	})
}

// relative returns a point as a place on the screen, such as 50%,12.5%.
func (d Device) relative(x, y float64) string {
	percent := func(value, length float64) string {
		tenths := math.Round(1000 * min(max(value/max(length, 1), 0), 1))
		return strconv.FormatFloat(tenths/10, 'f', -1, 64) + "%"
	}
	return percent(x, d.Width) + "," + percent(y, d.Height)
}

// wheelOnPhone returns a move of the finger that scrolls what is under the wheel, without leaving the screen.
func wheelOnPhone(d Device, a Act) trail.Call {
	return dragCall(d, a.X, a.Y, a.X-a.DX, a.Y-a.DY)
}

func dragCall(d Device, x, y, toX, toY float64) trail.Call {
	inside := func(value, length float64) int { return int(min(max(value, 0), max(length-1, 0))) }
	return call("dragByPoints", map[string]any{
		"startX": inside(x, d.Width), "startY": inside(y, d.Height), "endX": inside(toX, d.Width), "endY": inside(toY, d.Height),
	})
}
