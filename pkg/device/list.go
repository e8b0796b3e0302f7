package device

import "context"

// Found is a device on this machine, or connected to it.
type Found struct {
	ID    string // the platform's identifier, such as a serial or a udid; empty if the kind has none
	Name  string // for people, such as Pixel 7; may be empty
	Type  string // phone, emulator, simulator or browser
	State string // Ready, or in a few words why a session cannot use it now
}

// Ready is the state of a device that a session can use.
const Ready = "ready"

// Lister is a Backend that finds devices of its kind.
type Lister interface {
	// List returns the devices, in the order of the program that knows them. It starts none. The error says why there
	// is none to find, such as a program that is not installed.
	List(ctx context.Context) ([]Found, error)
}

// Identity is what a backend knows of its device before a session uses it.
type Identity struct {
	ID            string // the platform's identifier; empty if it is not known
	Width, Height int    // of the screen in pixels; 0 for unknown
}

// Identifier is a Backend that can say which device its sessions will use.
type Identifier interface {
	// Identify starts and changes nothing. It fails if no session could start.
	Identify(ctx context.Context) (Identity, error)
}

// AppLister is a Device with apps that are installed.
type AppLister interface {
	// InstalledApps returns the ids of the apps, with those of the system. It may be called while a call is running.
	InstalledApps(ctx context.Context) ([]string, error)
}
