package app

import (
	"slices"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Kind is what an element is. Each platform has a class for it.
type Kind int

// The kinds of elements.
const (
	Group Kind = iota
	NavigationBar
	TabBar
	Text
	Button
	ImageButton
	Field
	TextArea // a field of several lines
	Switch
	List
	Row
	Image
	Web
	Spinner
	Dialog
	Keyboard
	KeyboardKey
)

// Element is something on the screen.
type Element struct {
	Kind  Kind
	ID    string // without the package, such as email
	Text  string // what it says; the content of a field
	Label string // for accessibility, such as of a button with an image
	Hint  string // of a field
	// Placeholder is what an empty field shows behind its hint, as TextInputLayout of Material does.
	Placeholder string
	Bounds      screen.Rect
	screen.States
	Unimportant bool // for accessibility
	Row         *int // in a list
	Solid       bool // takes touches although it is not clickable
	Dismissable bool // accessibility can remove it
	Raised      bool // drawn above its siblings, wherever it is among them
	Children    []*Element

	tap, double, hold, pinch func()
	scroll                   func(dy int)
}

// Window is a window of an app or of the system.
type Window struct {
	Package string
	Kind    WindowKind
	Root    *Element
	Modal   bool // takes touches outside its bounds too, and ignores them
}

// WindowKind is the kind of a window.
type WindowKind int

// The kinds of windows, in the order in which they lie above each other.
const (
	AppWindow WindowKind = iota
	DialogWindow
	SystemWindow
	BannerWindow
	ShadeWindow // with the notifications
	KeyboardWindow
)

// add appends children, and returns e.
func (e *Element) add(children ...*Element) *Element {
	e.Children = append(e.Children, children...)
	return e
}

// at returns the topmost element at p that takes touches; nil when none does.
// What is outside of an element that scrolls is clipped.
func (e *Element) at(p screen.Point) *Element {
	inside := e.Bounds.Contains(p)
	if e.Scrollable && !inside {
		return nil
	}
	for _, child := range slices.Backward(e.drawn()) {
		if hit := child.at(p); hit != nil {
			return hit
		}
	}
	if inside && e.takesTouches() {
		return e
	}
	return nil
}

// drawn returns the children in the order in which they are drawn.
func (e *Element) drawn() []*Element {
	return slices.SortedStableFunc(slices.Values(e.Children), func(a, b *Element) int {
		switch {
		case a.Raised == b.Raised:
			return 0
		case a.Raised:
			return 1
		}
		return -1
	})
}

// takesTouches reports whether touches on e do not reach what is below it.
func (e *Element) takesTouches() bool {
	return !e.Hidden && (e.Clickable || e.LongClickable || e.Editable || e.Scrollable || e.Solid || e.Kind == Dialog)
}

// scrollerAt returns the innermost element at p that scrolls.
func (e *Element) scrollerAt(p screen.Point) *Element {
	if e.Scrollable && !e.Bounds.Contains(p) {
		return nil
	}
	for _, child := range slices.Backward(e.Children) {
		if hit := child.scrollerAt(p); hit != nil {
			return hit
		}
	}
	if e.scroll != nil && e.Bounds.Contains(p) {
		return e
	}
	return nil
}

// windowAt returns the window that receives touches at p.
func windowAt(windows []Window, p screen.Point) (Window, bool) {
	for _, w := range slices.Backward(windows) {
		if w.Modal || w.Root.Bounds.Contains(p) {
			return w, true
		}
	}
	return Window{}, false
}
