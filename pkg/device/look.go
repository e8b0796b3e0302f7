package device

import (
	"context"
	"reflect"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Geometry says how the bounds in a view lie on the screen and in its picture. The unit of bounds is a CSS pixel of the
// viewport on the web, a pixel of the screen on Android, and a point on iOS. The top left corner is 0, 0; what is
// scrolled out of view lies outside of the size.
type Geometry struct {
	Width, Height float64 // of what the device shows: the viewport of the page, or the screen
	// ScrollX and ScrollY are how far the page is scrolled; 0 on phones, whose lists scroll by themselves.
	ScrollX, ScrollY float64
	// PixelRatio is the number of pixels of the picture for one unit; 0 if it is not known, on iOS without a picture.
	PixelRatio float64
}

// Locator is a Viewer that says how a recording would name an element. The device of a live session is a Locator.
type Locator interface {
	// Locate returns an element and the selectors that a recording could use for it. It does not act, leaves nothing on
	// the screen, and may be called while a call is running. The error is a *fault.Error.
	Locate(ctx context.Context, at Place) (Location, error)
}

// Place says which element is meant: that of a reference of a view, or without one what is at a point: the control, or
// else the innermost element, that a person would point at there.
type Place struct {
	Ref   string
	Point screen.Point // in the unit of [Geometry]
	Best  bool         // only the first selector is asked for, and not how many elements it matches
}

// Location is an element with the ways to select it.
type Location struct {
	Node *screen.Node // with its bounds
	Ref  string       // of the element; empty if people do not refer to it
	// Candidates are the selectors that find this element and no other, best first. The first is what the recording of
	// a call with the reference has.
	Candidates []Candidate
}

// Candidate is a selector for an element.
type Candidate struct {
	By       string         // what it selects by, in a few words, such as role and name
	Selector map[string]any // the argument nodeSelector
	// Matches is how many elements it matches now, without its index: 1, unless it counts.
	Matches int
	Notes   []string // why it may find another element in a later replay; none for one that is expected to last
}

// HasSelector reports whether one of the candidates has a selector.
func HasSelector(candidates []Candidate, selector map[string]any) bool {
	return slices.ContainsFunc(candidates, func(c Candidate) bool { return reflect.DeepEqual(c.Selector, selector) })
}
