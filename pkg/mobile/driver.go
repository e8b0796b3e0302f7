// Package mobile has the commands of phones and tablets, for Android and iOS alike, over a Driver (specification,
// section 15.3). It waits, resolves selectors in the tree that the driver reads, and sends the driver coordinates, text
// and keys.
package mobile

import (
	"context"
	"errors"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Platform is the operating system of a device.
type Platform string

// The platforms.
const (
	Android Platform = "android"
	IOS     Platform = "ios"
)

// Driver is a device during one session, however it is reached. Its methods are called one after another. Every call
// ends when its ctx does.
//
// An error is a *fault.Error that names what was tried, an *act.UnconfirmedError when an action was sent and its answer
// was lost, or the error of [Unsupported]. A driver never sends an action twice.
type Driver interface {
	// Info returns what is known of the device since it was opened.
	Info() Info
	// Read returns what is on the screen now.
	Read(ctx context.Context) (Screen, error)
	// Screenshot returns a PNG. Its size in pixels may differ from the unit of the tree's bounds, as on iOS.
	Screenshot(ctx context.Context) ([]byte, error)

	// Touch performs one sequence of events with one or several fingers at the same time.
	Touch(ctx context.Context, fingers ...Finger) error
	// SetText replaces the text of the field that has the focus, whatever characters it consists of.
	SetText(ctx context.Context, text string) error
	// Type types text at the end of the field that has the focus, as its keyboard does.
	Type(ctx context.Context, text string) error
	// Press presses a key.
	Press(ctx context.Context, key Key) error
	// HideKeyboard hides the on-screen keyboard if one is shown. It changes nothing else. The error is ErrKeyboardStays if
	// it was still shown after all attempts.
	HideKeyboard(ctx context.Context) error

	// Launch starts an app.
	Launch(ctx context.Context, l Launch) error
	// Stop ends an app.
	Stop(ctx context.Context, app string) error
	// Clear removes everything that an app has stored.
	Clear(ctx context.Context, app string) error
	// Grant gives an app permissions, by the names of the platform. One that the app does not request is ignored.
	Grant(ctx context.Context, app string, permissions []string) error
	// Apps returns the ids of the installed apps, those of the system only on request.
	Apps(ctx context.Context, system bool) ([]string, error)
	// Foreground returns the id of the app in front; empty if it is not known.
	Foreground(ctx context.Context) (string, error)

	// OpenURL opens a deep link or a web page. app may be empty.
	OpenURL(ctx context.Context, url, app string) error
	// Clipboard returns the text of the clipboard. Where only apps can read it, that is the text that the driver has set,
	// and an error if it has set none.
	Clipboard(ctx context.Context) (string, error)
	SetClipboard(ctx context.Context, text string) error
	// SetNetwork connects the device to its networks, or disconnects it.
	SetNetwork(ctx context.Context, connected bool) error
	// Shell runs a command on the device, and returns its stdout and stderr. A status other than 0 is an error.
	Shell(ctx context.Context, argv []string) (string, error)

	// Close puts back what the driver changed on the device (settings, networks, its server), and disconnects.
	Close(ctx context.Context) error
}

// CellReader is a Driver that can read the rows and columns of elements in lists and grids.
type CellReader interface {
	// ReadCells is Read with rows and columns, for each of which it makes a call. The error is act.ErrChanged if the
	// screen changed meanwhile. A screen without them says why in the tree's Unavailable.
	ReadCells(ctx context.Context) (Screen, error)
}

// FocusReader is a Driver whose tree does not say which field the keyboard types into.
type FocusReader interface {
	// Focus returns the bounds of that field, in the unit of the tree; nil without one.
	Focus(ctx context.Context) (*screen.Rect, error)
}

// AlertReader is a Driver whose screen may lack an alert of the system that is shown, because it is that of one app.
type AlertReader interface {
	// Alert returns the text of the alert; empty without one.
	Alert(ctx context.Context) (string, error)
}

// StatusBarReader is a Driver whose screen may lack the status bar, which belongs to the system: that of iOS 13 and later.
type StatusBarReader interface {
	// StatusBar returns the height of the bar at the top of the screen, in the unit of the tree; 0 if it is not known.
	StatusBar(ctx context.Context) int
}

// LockReader is a Driver whose device may lock itself, or turn its screen off, while it is used.
type LockReader interface {
	// Lock returns that as what the device does, such as "has its screen off"; empty if apps can be seen.
	Lock(ctx context.Context) (string, error)
}

// ErrKeyboardStays says that a device does not hide its on-screen keyboard.
var ErrKeyboardStays = errors.New("the keyboard stays on the screen")

// Info describes a device.
type Info struct {
	ID            string // serial or UDID; may be empty behind a cloud
	Product       string // for people, such as Pixel 7, Android 14
	Width, Height int    // of the screen, in the unit of the tree's bounds: pixels on Android, points on iOS
	Tablet        bool
}

// Screen is what a device shows.
type Screen struct {
	Tree *screen.Tree
	// Keyboard is the area of the on-screen keyboard; nil when none is shown.
	Keyboard *screen.Rect
	// Bars are the areas where the system shows the time and its own buttons, as far as they are known.
	Bars []screen.Rect
}

// Finger is the path of one finger: down at the first point, there for Hold, then in a straight line from point to
// point, Move in all, at the last one for Rest, and up. Without Rest, what it has moved goes on by itself. With Taps it
// does so several times, as fast as a person taps twice.
type Finger struct {
	Path             []screen.Point
	Hold, Move, Rest time.Duration
	Taps             int // 0 for one
}

// Key is a key or a button of a device.
type Key string

// The keys. A device that lacks one returns the error of [Unsupported].
const (
	Back      Key = "BACK"
	Enter     Key = "ENTER"
	Home      Key = "HOME"
	Backspace Key = "BACKSPACE"
	Tab       Key = "TAB"
	Escape    Key = "ESCAPE"
	Paste     Key = "PASTE" // of Android, enters the text of the clipboard
)

// Launch says how to start an app.
type Launch struct {
	App  string
	Stop bool // end it first, so that it starts anew
	// Clear removes what it has stored first.
	Clear bool
	// Permissions are set before the start: the platform's names to allow, deny or unset. "all" stands for all that the
	// app requests. The commands resolve short names such as camera.
	Permissions map[string]string
	Arguments   map[string]any // for the app; may be nil
}

// Prepare ends the app and removes what it has stored, as far as the launch says so.
func (l Launch) Prepare(ctx context.Context, d Driver) error {
	if l.Stop || l.Clear {
		if err := d.Stop(ctx, l.App); err != nil {
			return err
		}
	}
	if l.Clear {
		return d.Clear(ctx, l.App)
	}
	return nil
}

// Unsupported returns the error for something that a device cannot do: "the cloud refuses shell commands".
func Unsupported(reason, hint string) *fault.Error {
	return fault.New(fault.ToolFailed, hint, "%s", reason)
}
