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
	Kind      string   `json:"kind"` // click, doubleClick, rightClick, longPress, drag, wheel, key or text
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

// Question is what a person answers in the page, because the browser would ask for it in a popup that no picture shows.
type Question struct {
	Kind     string       `json:"kind"` // select, files or date
	Text     string       `json:"text"` // the name of the field
	Value    string       `json:"value"`
	Input    string       `json:"input,omitempty"` // for date, the type of the HTML input: date, time, month, week, datetime-local or color
	Multiple bool         `json:"multiple"`
	Options  []Option     `json:"options"`
	Bounds   *screen.Rect `json:"bounds,omitempty"`
	Field    Target       `json:"-"`
}

// Option is an option of a list.
type Option struct {
	Value    string `json:"value"`
	Label    string `json:"label"`
	Selected bool   `json:"selected"`
	Disabled bool   `json:"disabled"`
}

// Check is a check that fits an element, or the screen.
type Check struct {
	Label string  `json:"label"` // such as Is visible, or Text is "Total 30 €"
	Call  NewCall `json:"call"`
}

// NewCall is a call that a person chose.
type NewCall struct {
	Tool   string         `json:"tool"`
	Args   map[string]any `json:"args"`
	SaveAs string         `json:"saveAs,omitempty"`
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
	return fault.New(fault.InvalidArguments, "use click, doubleClick, rightClick, longPress, drag or wheel", "%q is not an act with the pointer", a.Kind)
}

// IsTextField reports whether keys into an element are text that it holds.
func IsTextField(e live.Element) bool { return screen.IsTextInput(e.Role) }
