// Package source reads the screen of a phone as automation servers write it: the XML of the UiAutomator2 server and of
// uiautomator dump, and the JSON and XML of WebDriverAgent. It does not depend on devices.
package source

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
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
}

// Result is a screen.
type Result struct {
	Tree *screen.Tree
	// Keyboard is the area of the on-screen keyboard, nil when the source has none. On Android, only a source with
	// several windows can have one.
	Keyboard *screen.Rect
}

// refused returns the error for a source that cannot be read.
func refused(server string, data []byte, format string, args ...any) error {
	return fault.New(fault.ProtocolError, "read the screen again; if it fails again, restart the server on the device",
		"%s sent a screen that cannot be read: %s; it starts with %q", server, fmt.Sprintf(format, args...), start(data))
}

// start returns the first characters of data.
func start(data []byte) string {
	const length = 120
	text := strings.ToValidUTF8(string(data[:min(len(data), length*utf8.UTFMax)]), "\ufffd")
	if runes := []rune(text); len(runes) > length {
		return string(runes[:length]) + "…"
	}
	return text
}

// notBlank returns a pointer to text, nil when it is nothing but white space.
func notBlank(text string) *string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return &text
}
