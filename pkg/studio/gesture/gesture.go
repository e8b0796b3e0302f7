// Package gesture turns what a person did on the picture of a screen into calls, and names the checks that fit an element.
// Data in, data out.
package gesture

import (
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Device is what acts are performed on.
type Device struct {
	Platform      string                 // web, android or ios
	Width, Height float64                // of what it shows, in the unit of [live.Look]
	Has           func(tool string) bool // whether a tool can be called; nil for all
}

func (d Device) isWeb() bool { return d.Platform == "web" }

func (d Device) has(tool string) bool { return d.Has == nil || d.Has(tool) }

// Act is what a person did on the picture, in the unit of [live.Look].
type Act struct {
	Kind      string   `json:"kind"` // click, doubleClick, middleClick, rightClick, longPress, drag, wheel, key or text
	X         float64  `json:"x"`
	Y         float64  `json:"y"`
	ToX       float64  `json:"toX"`  // where a drag ends
	ToY       float64  `json:"toY"`  // where a drag ends
	Hold      bool     `json:"hold"` // the drag began with a long press
	DX        float64  `json:"dx"`   // of a wheel: positive to the right
	DY        float64  `json:"dy"`   // of a wheel: positive down
	Key       string   `json:"key"`  // a name of KeyboardEvent.key
	Modifiers []string `json:"modifiers"`
	Text      string   `json:"text"`
}

// Target is the element at a point, with the selectors for it; zero if nothing there can be named.
type Target struct{ live.Location }

// nodeSelector returns the argument nodeSelector, the best selector for the element; nil without one.
func (t Target) nodeSelector() map[string]any {
	if len(t.Candidates) == 0 {
		return nil
	}
	return t.Candidates[0].Selector
}

// Result is what an act becomes: calls, or a question to the person.
type Result struct {
	Calls      []trail.Call // to make, in order, and to record, unless Unrecorded
	Unrecorded bool         // such as scrolling, which calls do by themselves
	Ask        *Question    // instead of calls: [Answer] makes them
}

// Calls returns what an act with the pointer becomes. at is what is at the point of the act, to what is where a drag ends.
// The error says why an act cannot be performed on the device, and what to do.
func Calls(d Device, a Act, at, to Target) (Result, error) {
	if d.isWeb() {
		return onPage(a, at, to)
	}
	return onPhone(d, a, at, to)
}

// made returns the result of calls to record.
func made(calls ...trail.Call) (Result, error) { return Result{Calls: calls}, nil }

func call(tool string, args map[string]any) trail.Call { return trail.Call{Tool: tool, Args: args} }

func unknownKind(a Act) error {
	return fault.New(fault.InvalidArguments, "use click, doubleClick, middleClick, rightClick, longPress, drag or wheel",
		"%q is not an act with the pointer", a.Kind)
}

// IsTextField reports whether keys into an element are text that it holds. On the web a click on it, which gives it the
// focus, need not be recorded when typing follows: the call for that names the field. On phones the tap is needed.
func IsTextField(e live.Element) bool {
	switch e.Kind {
	case "":
		return screen.IsTextInput(e.Role) && e.Role != "combobox" // one without a field opens a list
	case "contenteditable", "email", "number", "password", "search", "tel", "text", "textarea", "url":
		return true
	}
	return false
}

// isInexact reports whether what a text field holds differs from the content that is known of it.
func isInexact(e live.Element) bool {
	switch e.Kind {
	case "":
		return e.Role == "textbox"
	case "contenteditable", "password", "textarea":
		return true
	}
	return false
}
