package report

import (
	"bytes"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// Limits of the files on a page, besides those of a Run. The page says where something was left out.
const (
	maxLine      = 1000      // bytes of a name, a path or a step
	maxServerLog = 64 << 10  // bytes at the end of a server's log, or at the beginning of another text file
	maxPicture   = 8 << 20   // bytes of a picture
	maxLinked    = 8 << 20   // bytes of another file that can be saved from the page
	maxAllFiles  = 100 << 20 // bytes of all files; beyond it no more are shown
)

// HTML renders a run, or sessions of earlier runs, as a page without external resources. It must be a handler of one
// stream only.
type HTML struct {
	*Run
	files int64 // bytes written to the page
}

// IsPage reports whether a file was written by HTML, so that it may be overwritten.
func IsPage(text []byte) bool {
	return bytes.Contains(text[:min(len(text), 64<<10)], []byte(`<meta name="generator" content="trailblaze">`))
}

// NewHTML returns an empty page of a run whose sessions have their folders in logsDir.
func NewHTML(logsDir string) *HTML { return &HTML{Run: NewRun(logsDir)} }

// Handle implements event.Handler.
func (h *HTML) Handle(r event.Record) { h.Fold(r) }
