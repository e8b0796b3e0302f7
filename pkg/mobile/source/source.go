// Package source reads the screen of a phone as automation servers write it: the XML of the UiAutomator2 server and of
// uiautomator dump, and the JSON and XML of WebDriverAgent. It does not depend on devices.
package source

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// The limits of a source. One that exceeds them is an error.
const (
	maxBytes = 32 << 20
	maxDepth = 1000
	maxNodes = 100_000
)

// Options are what a reader needs to know besides the source.
type Options struct {
	// Width and Height are the size of the screen in rotation 0, in the unit of the bounds. The readers use them where
	// the source does not have the size, as that of uiautomator dump. 0 when unknown.
	Width, Height int
	// InputMethods are the apps whose windows may be those of a keyboard on Android; nil when unknown.
	InputMethods []string
	// Items requests Result.Items.
	Items bool
}

// Result is a screen.
type Result struct {
	Tree *screen.Tree
	// Keyboard is the area of the on-screen keyboard, nil when the source has none. On Android, only a source with
	// several windows can have one.
	Keyboard *screen.Rect
	// Bars are the areas at the edges of the screen where the system shows the time and its own buttons, as far as the
	// source has them.
	Bars []screen.Rect
	// Items are the elements of lists and grids in the order of the source, nil for those outside of the tree. It is
	// nil without Options.Items, and for a source that does not say which elements those are.
	Items []*screen.Node
}

// Cell is a place in a list or a grid, counted from 0.
type Cell struct {
	Row    int `json:"rowIndex"`
	Column int `json:"columnIndex"`
}

// SetCells sets the rows and columns of Items, which a source does not have: cells has one for each, nil for one
// without. Nothing else must use the tree yet.
func (r Result) SetCells(cells []*Cell) {
	if r.Items == nil {
		return // Unavailable says why
	}
	for i, n := range r.Items {
		if n != nil && cells[i] != nil {
			n.Row, n.Column = &cells[i].Row, &cells[i].Column
		}
	}
	for _, key := range screen.CellKeys() {
		delete(r.Tree.Unavailable, accessibilityKey(key))
	}
}

// unreadableError returns the error for a source that cannot be read.
func unreadableError(server string, data []byte, format string, args ...any) error {
	return fault.New(fault.ProtocolError, "read the screen again; if it fails again, restart the server on the device",
		"%s sent a screen that cannot be read: %s; it starts with %q", server, fmt.Sprintf(format, args...), start(data))
}

// start returns the first characters of data.
func start(data []byte) string {
	const length = 120
	valid := strings.ToValidUTF8(string(data[:min(len(data), length*utf8.UTFMax)]), "\ufffd")
	return text.Head(valid, length)
}

// notBlank returns a pointer to text, nil when it is nothing but white space.
func notBlank(text string) *string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return &text
}
