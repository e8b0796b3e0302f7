package engine

import (
	"context"
	"sync"
	"sync/atomic"
)

// A halt ends an engine from any goroutine, once; the first reason counts.
type halt struct {
	once   sync.Once
	exit   Exit
	is     atomic.Bool
	cancel context.CancelFunc
}

func newHalt() (context.Context, *halt) {
	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // an engine belongs to no call
	return ctx, &halt{cancel: cancel}
}

func (h *halt) with(exit Exit) {
	h.once.Do(func() {
		h.exit = exit
		h.is.Store(true)
		h.cancel()
	})
}

// halted goes up through JavaScript, which cannot catch it, to the start of the engine's goroutine.
type halted struct{}

// now ends the engine, on its own goroutine: it does not return.
func (h *halt) now(exit Exit) {
	h.with(exit)
	h.check()
}

// check ends what the engine's goroutine is doing once the engine is to end.
func (h *halt) check() {
	if h.is.Load() {
		panic(halted{}) //nolint:forbidigo // nothing else goes up through JavaScript
	}
}
