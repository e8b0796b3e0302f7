package device

import "context"

// Screencaster is a Viewer that sends pictures of its screen by itself.
type Screencaster interface {
	// Screencast calls frame with a picture of what is shown, at once and then whenever it changes, until ctx ends. It
	// makes one call of frame at a time. While frame runs nothing waits for it: the next picture is the newest one. The
	// error is a *fault.Error, nil after the end of ctx.
	Screencast(ctx context.Context, frame func(Frame)) error
}

// Frame is a picture of what a device shows.
type Frame struct {
	// Picture is a JPEG with one pixel for one unit of [Geometry]. It is nil once a secret was given to the screen: then
	// the frame only says that something has changed, and [Viewer] gives a picture that was checked.
	Picture       []byte
	Width, Height float64 // of what is shown, in the unit of [Geometry]
}
