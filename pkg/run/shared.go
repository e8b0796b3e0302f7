package run

import "context"

// sharing is what the sessions of a run on several devices have in common: the processes of entries with `multiDevice: http`.
// Its methods may be called on nil, which is a run that shares nothing.
type sharing struct{}

// newSharing returns nil when no session would share anything.
func newSharing(Options) *sharing { return nil }

// close ends the shared processes. It works on every exit path, also after ctx was cancelled.
func (*sharing) close(context.Context) {}
