// Package device has the interface of a kind of device: its commands, which are tools, its options, its sessions, and
// the evidence of a failed trail. It does not depend on a platform. Each kind of device is a separate package
// (docs/decisions/0004).
package device

import (
	"context"
	"time"

	"github.com/trailblaze/trailblaze/pkg/picture"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Kind describes a kind of device, and creates its backends.
type Kind struct {
	Name        string                   // the name of its source in listings
	Drivers     []string                 // yaml keys of the drivers that it supports
	DoctorCheck string                   // the name of its check in doctor, such as browser
	Commands    func() []tool.Advertised // the same at each call
	// Restricted names the commands that agents may call only if the user allows them: those that run any code, those that
	// read or write files of this machine, and those that read all cookies.
	Restricted []string
	// AllowedWith names, for some of the restricted commands, the switch with which agents may call them all the same.
	AllowedWith map[string]string
	// CheckForAgent returns what is wrong with a call of an agent in a session of somebody who may do more. baseURL is that
	// of the target. Nil if only the commands themselves are restricted.
	CheckForAgent func(command string, args Arguments, baseURL string) error
	Checks        []string // the commands that fail unless the screen is as expected
	Reads         []string // the other commands that leave the app as it is
	// Primary and PrimaryChecks are the actions, and the checks, that a model is shown with their arguments. It is told the
	// names of the others.
	Primary, PrimaryChecks []string
	StartCommands          []string // the commands that bring the app into a known state, with which a trail begins
	// Instead says what to use instead of commands that it does not have and that recordings of other programs may
	// call, by their names.
	Instead map[string]string
	Options []Option
	// IDOption is the key of the option that names a device by the platform's identifier, such as serial. Empty if a
	// kind has no such option.
	IDOption string
	// Secrets returns the texts in the values of options that no output may show, by the name that is shown instead,
	// such as the user and the key in a URL. It may be nil.
	Secrets func(values map[string]string) map[string]string
	// OneSession is true if a device of this kind allows one session at a time, like a phone and unlike a browser.
	OneSession bool
	// New returns the backend of a run. It starts nothing. Its error is about the options.
	New func(Host) (Backend, error)
}

// Option is a setting of a kind of device: a flag, an environment variable, and a key under device: in the project
// file.
type Option struct {
	Key     string // under device:, camelCase
	Flag    string // empty for none
	Env     string // empty for none
	Usage   string // of the flag; a placeholder in backquotes
	Default string // as text
	Switch  bool   // a flag without a value; true or false elsewhere
	List    bool   // the flag may be given several times; commas join its values
	Names   bool   // the value says which device is used, so that devices with the same are one
	// Path says that the value is the path of a file. A relative one in a flag or a variable starts at the working
	// folder, one in the project file at the project's folder.
	Path bool
}

// Host has the settings of a backend, and what it may use of the program.
type Host struct {
	Values   map[string]string // of the options that are set, by key
	Env      []string          // of this process
	Dir      string            // absolute folder of the project, or without one the working folder of this process
	StateDir string            // absolute folder of files that processes of the user share; empty for none
	Programs Programs          // starts every program of a backend
	// ExitGrace is how long a server that a backend has started on a device may take to exit; 0 for the default.
	ExitGrace time.Duration
}

// Backend serves the devices of one kind in a run: a browser, or a connection to a device farm. It may be used from any
// goroutine.
type Backend interface {
	// Open returns the device of a session. It starts nothing, because a session may not need its device.
	Open(Session) Device
	// Classifiers returns the classifiers after the platform, the broadest first, such as phone. They determine which
	// recordings are replayed. It is called before a session is opened.
	Classifiers(ctx context.Context) ([]string, error)
	// Check returns what a session would use, for doctor, or an error if no session can start. It stops what it starts.
	Check(ctx context.Context) (detail string, err error)
	// Close stops what the devices of the run share. Every device must be closed before.
	Close(ctx context.Context) error
}

// Session describes the session of a device.
type Session struct {
	ID       string
	Title    string // of the trail; empty without a trail
	TrailDir string // absolute folder of the trail; empty without a trail
	Root     string // absolute folder of the project
	// WorkingDir is an absolute folder in which relative URLs are looked for after TrailDir and before Root; empty for none.
	WorkingDir string
	BaseURL    string // base_url of the target, may be empty
	Driver     string // yaml key
	// Baselines are the pictures of the trail.
	Baselines picture.Baselines
	// AppID is the app under test: that which the trail names, else the only one of the target; else empty. AppIDs are
	// all of the target on this platform.
	AppID  string
	AppIDs []string
	App    App // of the target
	Width  int // as configured, in pixels; 0 for the device's default
	Height int
	Log    func(level, message, hint string)
	Keep   func(Artifact) (path string, err error) // writes a file into the session's folder
	// Noted reports something that happened on the device without a call that asked for it. kind is dialog, download,
	// tab, crash, anr, console or chooser. Nil if nobody reads it.
	Noted  func(kind, text string)
	Broken func(err error) // ends the session, because the device cannot be used any more
	// Ask returns a person's answer; ok is false if nobody answers. It is called from any goroutine, and waits until ctx
	// ends. Nil if nobody can be asked.
	Ask func(ctx context.Context, q Question) (a Answer, ok bool)
	// Outcome returns how the session has ended, for a device cloud that shows that. It is called when the device is
	// closed, and returns nil if nobody has decided that. Nil for a session without an outcome.
	Outcome func() *Outcome

	// Live says that calls name elements by the references of a View, such as e12. Without it, a reference is a
	// position on the screen at the time of the call.
	Live bool
	// References numbers the elements of a live session. It may have been used by an earlier session of the same
	// caller, whose numbers are not used again. Nil for new ones.
	References *screen.References
	// RestrictOrigins restricts the pages that may be opened to those of some origins: AllowedOrigins, those of the
	// user's options and that of BaseURL, or without any that of the first page that a call opens.
	RestrictOrigins bool
	AllowedOrigins  []string // SCHEME://HOST:PORT, without the port if it is the scheme's default
	// Redact returns a text without the secrets of the session. Nil if there are none.
	Redact func(text string) string
}

// App says how a session starts an app of this machine, or with URL where it runs. The zero value names none.
type App struct {
	Command  string            // absolute, or a name to look up on PATH
	Args     []string          // of Command
	Env      map[string]string // added to the environment
	Port     int               // for DevTools; 0 lets the app choose one
	URL      string            // for DevTools, of an app that is not started
	Timeout  time.Duration     // for the start, until the app has a window; 0 for the default
	Headless bool              // the app shows no window
}

// Outcome is how a session has ended.
type Outcome struct {
	Passed bool
	Reason string // why it has not passed; without secrets
}

// AppChecker is a Backend that starts apps of this machine.
type AppChecker interface {
	// CheckApp returns what a session would start or connect to, for doctor, or an error. It starts nothing.
	CheckApp(ctx context.Context, app App) (detail string, err error)
}

// Device is one device during one session. Call may be used from any goroutine, Prepare and Close from one.
//
// Actions act and report. Queries return a value and do not fail if an element is missing. Assertions fail if their
// condition does not hold within their limit (specification, section 15).
type Device interface {
	tool.Caller
	// Prepare starts what the first call needs, in the background. The first call reports errors of it.
	Prepare()
	// Size returns the size of the screen in pixels; 0 if it is not known yet.
	Size() (width, height int)
	// Evidence returns what the device shows, such as a screenshot: what can be collected before ctx ends.
	Evidence(ctx context.Context) []Artifact
	// Close ends the device's part of the session, in any state of the device. It may wait for what the device has
	// begun, such as a download, until ctx ends.
	Close(ctx context.Context) error
}

// ProductReporter is a Device that can say which product it is, such as Chrome 140.0. The text is empty before it was
// used.
type ProductReporter interface {
	Product() string
}

// Releaser is a Device that keeps other sessions from what it drives, such as a phone.
type Releaser interface {
	// Release lets another session use what the device drives. The next call or view of this one connects again, and
	// waits until that session has closed its device. The error is a *fault.Error.
	Release(ctx context.Context) error
}

// Viewer is a Device that can show its screen. The device of a live session is a Viewer.
type Viewer interface {
	// View returns what is on the screen now. It may be called while a call is running. The error is a *fault.Error.
	View(ctx context.Context, o ViewOptions) (View, error)
}

// ViewOptions say what a view contains.
type ViewOptions struct {
	Within     string // reference or CSS selector of the element whose content is shown; empty for everything
	Screenshot bool
	Show       Show // instead of the screen
	// Peek is for somebody who looks on while another one makes calls. The view has bounds and a Geometry, its picture is
	// of the same moment as far as the screen comes to rest, and it leaves events, messages and what counts as shown to
	// the next view of the other one.
	Peek bool
}

// Show is what a view is of.
type Show string

// What a view may be of. Devices without a console show the screen instead.
const (
	ShowScreen   Show = ""
	ShowConsole  Show = "console"
	ShowRequests Show = "requests"
)

// PageLog is what a page wrote to the console, or requested, one line each, the newest last. The lines are bounded, and
// without secrets.
type PageLog struct {
	Earlier []string // before the last action
	Since   []string // since it began
}

// View is what is on a screen. Secrets in it are not redacted.
type View struct {
	URL, Title string
	Status     string       // of a page that was answered with an error, such as 404 Not Found
	Tree       *screen.Tree // the whole screen, with the content of frames
	Part       *screen.Tree // the element that ViewOptions.Within names; Tree without it
	// Ref returns the reference of a node of Tree or Part, such as e12, and "" for one without a reference. In a
	// session that is not live, a reference is a position.
	Ref        func(*screen.Node) string
	Screenshot []byte   // PNG; nil unless requested
	Withheld   string   // why Screenshot may show a secret that was given to the screen; empty if it does not
	Geometry   Geometry // with ViewOptions.Peek
	// Events are what happened since the last view, one line each: dialogs and how they were answered, downloads,
	// windows that were opened, navigations that were blocked, and the number of console errors with the first one.
	Events []string
	// Messages are the texts that came on the screen and are gone again, since the last view.
	Messages []Message
	Log      *PageLog // with ViewOptions.Show; nil for a device without one
	// Blocked are the URLs that the last call led to, and that the device did not open because their origins are not
	// allowed. A call that fails for that reason does not count.
	Blocked []string
}

// Message is a text that was on the screen for some time.
type Message struct {
	Role, Text string // text for an element without a role
	Began      time.Time
	For        time.Duration
}

// Screen returns what pkg/screen compares of a view.
func (v View) Screen() screen.View {
	return screen.View{URL: v.URL, Tree: v.Tree, Ref: v.Ref, Status: v.Status}
}

// Snapshotter is a Device that can list what a user interface shows, without a trail.
type Snapshotter interface {
	// Snapshot opens what url names and lists its elements. The error is a *fault.Error.
	Snapshot(ctx context.Context, url string, o SnapshotOptions) (Snapshot, error)
}

// SnapshotOptions say what a snapshot contains.
type SnapshotOptions struct {
	Within   string // selector of the element whose content is listed; empty for everything
	MaxBytes int    // of the list; 0 for no limit
}

// Snapshot is what a user interface shows.
type Snapshot struct {
	URL   string
	Title string
	Text  string // the text form of pkg/screen
	More  int    // number of elements that were left out
}

// Artifact is a file for the session's folder.
type Artifact struct {
	Name  string // with its extension, without a folder
	Title string // what it shows; empty if the name is sufficient
	Data  []byte
	Text  bool // is UTF-8 text, which is redacted
	// Foreign data, such as a download, is of any type: secrets in text are redacted, and reports do not show other data
	// that has one.
	Foreign bool
}
