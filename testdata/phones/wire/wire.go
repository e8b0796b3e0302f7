// Package wire writes screens in the formats of automation servers, for simulated devices: the XML of the UiAutomator2
// server and of uiautomator dump, and the JSON and XML of WebDriverAgent. It follows the real programs: which
// attributes they write, in which order, how they escape, and what they lose.
package wire

import (
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Screen is what a device shows.
type Screen struct {
	Width, Height int
	Rotation      int      // of Android, from 0 to 3
	Windows       []Window // the topmost first; iOS has one
	Toasts        []string // notices of Android
}

// Window is a window of an app or of the system.
type Window struct {
	Package string // of Android, or the bundle id of iOS
	// Root has the properties as the device has them. The bounds may be outside the screen.
	Root *screen.Node
	// Keyboard marks the window of an input method. Its Root needs an element with the id android:id/inputArea, as that
	// of every input method has.
	Keyboard bool
	// Background marks a window that is not active. The active one is the first of the others.
	Background bool
}

// Settings are those of the UiAutomator2 server that decide what it writes. The zero value holds its defaults.
type Settings struct {
	EnableMultiWindows             bool
	AllowInvisibleElements         bool
	SimpleBoundsCalculation        bool
	IncludeA11yActionsInPageSource bool
	IncludeExtrasInPageSource      bool
	SnapshotMaxDepth               int // 70 when 0
}

// active returns the window that has the input focus, a keyboard never.
func (s Screen) active() []Window {
	for _, w := range s.Windows {
		if !w.Keyboard && !w.Background {
			return []Window{w}
		}
	}
	return nil
}

// writer writes XML.
type writer struct {
	strings.Builder
	android bool // write characters beyond the first plane as numbers, as Android's serializer does
}

func (w *writer) attribute(name, value string) {
	w.WriteString(" " + name + `="`)
	for _, r := range value {
		switch {
		case r == '&':
			w.WriteString("&amp;")
		case r == '<':
			w.WriteString("&lt;")
		case r == '>':
			w.WriteString("&gt;")
		case r == '"':
			w.WriteString("&quot;")
		case r == '\n', r == '\r', r == '\t', r > 0xffff && w.android:
			fmt.Fprintf(w, "&#%d;", r)
		default:
			w.WriteRune(r)
		}
	}
	w.WriteByte('"')
}

// xmlText returns text with a replacement for every character that XML 1.0 does not allow.
func xmlText(text, replacement string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xfffd || r >= 0x10000 {
			b.WriteRune(r)
		} else {
			b.WriteString(replacement)
		}
	}
	return b.String()
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
