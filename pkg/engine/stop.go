package engine

import (
	"context"
	"sync"
	"sync/atomic"
)

// A stopState records that an engine stops, and its exit. It may be used from any goroutine.
type stopState struct {
	once      sync.Once
	exit      Exit
	requested atomic.Bool
	cancel    context.CancelFunc
}

func newStopState() (context.Context, *stopState) {
	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // an engine belongs to no call
	return ctx, &stopState{cancel: cancel}
}

// request stops the engine. The first request determines the exit.
func (h *stopState) request(exit Exit) {
	h.once.Do(func() {
		h.exit = exit
		h.requested.Store(true)
		h.cancel()
	})
}

// stopped is the panic value that unwinds the main goroutine of a stopped engine. JavaScript cannot catch it.
type stopped struct{}

// now stops the engine. It is called on the main goroutine and does not return.
func (h *stopState) now(exit Exit) {
	h.request(exit)
	h.check()
}

// check unwinds the main goroutine if the engine was stopped.
func (h *stopState) check() {
	if h.requested.Load() {
		panic(stopped{}) //nolint:forbidigo // only a panic unwinds the frames of QuickJS
	}
}
