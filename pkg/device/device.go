// Package device is what every kind of device has in common: the commands that it offers as tools, what the user may set, and the
// evidence it gives when a trail fails. It knows no platform; a kind of device is a package of its own (docs/decisions/0004).
package device

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Kind is a kind of device: static facts, and how to get a backend.
type Kind struct {
	Name     string   // the name of its source in listings
	Drivers  []string // yaml keys of the drivers it serves
	Check    string   // what doctor calls its check, such as browser
	Commands []tool.Advertised
	Options  []Option
	// OneSession says that a device of this kind serves one session at a time: a phone, not a browser.
	OneSession bool
	// New returns the backend of a run. It starts nothing; its error is about the options.
	New func(Host) (Backend, error)
}

// Option is something that the user may set, with a flag, an environment variable, or a key under device: in the project file.
type Option struct {
	Key     string // under device:, camelCase
	Flag    string
	Env     string // empty for none
	Usage   string // of the flag; a placeholder in backquotes
	Default string // as text
	Switch  bool   // a flag without a value; true or false elsewhere
}

// Host is what a backend gets from the program.
type Host struct {
	Values     map[string]string // of the options that are set, by key
	Env        []string          // of our process
	Supervisor *spawn.Supervisor // of every process that a backend starts
}

// Backend is what a run has of one kind: a browser, a connection to a device farm. It may be used from any goroutine.
type Backend interface {
	// Open returns the device of a session. It starts nothing yet, so that a session which never needs its device pays nothing.
	Open(Session) Device
	// Classifiers say what kind of device a session gets, broad first and without the platform, which they follow: phone, tablet. They
	// decide which recordings are replayed, before a session is opened. Empty when there is nothing to tell apart.
	Classifiers(ctx context.Context) ([]string, error)
	// Check says for doctor what a session would use, or why none can begin. It may start things and ends them.
	Check(ctx context.Context) (detail string, err error)
	// Close ends what the devices of the run shared, when every device has been closed.
	Close(ctx context.Context) error
}

// Session is what a device is told of the session it belongs to.
type Session struct {
	ID       string
	TrailDir string // absolute folder of the trail; empty without a trail
	Root     string // absolute folder of the project
	BaseURL  string // base_url of the target, may be empty
	Width    int    // what the user asked for, in pixels, 0 for the device's own
	Height   int
	Log      func(level, message, hint string)
	Keep     func(Artifact) (path string, err error) // writes a file into the session's folder
	Broken   func(err error)                         // ends the session: the device is gone and nothing can go on
}

// Device is one device for the length of one session. Call may be used from any goroutine; Prepare and Close from one.
//
// Actions do and report. Queries return a value and never fail because something is not there. Assertions fail when what they
// assert does not hold within their limit (specification, section 15).
type Device interface {
	tool.Caller
	// Prepare begins to start what the first call will need, and returns at once. What goes wrong is the first call's to tell.
	Prepare()
	// Size is that of the screen in pixels; 0 before it is known.
	Size() (width, height int)
	// Evidence is what the device shows at this moment. It gives what it can get, within ctx.
	Evidence(ctx context.Context) []Artifact
	// Close ends the device's part of the session. It works whatever state the device is in.
	Close(ctx context.Context) error
}

// Artifact is a file that belongs into the session's folder.
type Artifact struct {
	Name  string // with its extension, without a folder
	Title string // what it shows; empty where the name says it
	Data  []byte
	Text  bool // is UTF-8 text, and gets redacted
}
