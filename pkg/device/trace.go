package device

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Tracer is a Device that can record what its screen shows during calls, and what happens meanwhile.
type Tracer interface {
	// StartTrace makes the device record until it is closed. It is called before the device is prepared or called.
	StartTrace(TraceOptions)
	// Moment returns what the screen shows after a call, and what happened since the last Moment. One that is whole has
	// a new picture and the elements of the screen, as far as the device provides them before ctx ends. Any other one
	// costs much less than a call: its picture may have been taken during the call, and it may have no elements.
	Moment(ctx context.Context, whole bool) Moment
}

// TraceOptions say how a device records.
type TraceOptions struct {
	// Secrets says that Session.Redact replaces something, so that a picture is only taken while the screen shows
	// nothing that it would replace.
	Secrets bool
}

// Moment is what a device recorded of a call. Secrets in texts that [Session.Redact] knows are not redacted.
type Moment struct {
	URL, Title string
	// Before replaces the picture of the moment before: it has what was drawn soon after that call. Nil for none.
	Before    *Picture
	Picture   *Picture // nil for none; that of an earlier moment if the screen has not changed since
	NoPicture string   // why there is none
	Tree      string   // the elements of the screen in the text form of pkg/screen; empty for none
	Requests  []string // to the network, that ended since the last moment; of a whole one also those that are pending
	Console   []string // lines of the console and errors of scripts
	Omitted   int      // number of requests and lines that were left out
	// Touched is where the call pressed the screen first, nil if it did not: in CSS pixels of the viewport on the web,
	// pixels on Android, points on iOS. Width and Height are the size of the screen in that unit, 0 if it is not known.
	Touched       *screen.Point
	Width, Height int
}

// Picture is what a screen showed.
type Picture struct {
	Data []byte
	Ext  string // of a file, such as .jpg
}
