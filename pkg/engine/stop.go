package engine

import (
	"context"
	"sync"
	"sync/atomic"
)

// A stopState records that an engine was stopped, and how it exits. It may be used from any goroutine.
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
func (s *stopState) request(exit Exit) {
	s.once.Do(func() {
		s.exit = exit
		s.requested.Store(true)
		s.cancel()
	})
}

// stopped is the panic value that unwinds the main goroutine of a stopped engine. JavaScript cannot catch it.
type stopped struct{}

// now stops the engine and unwinds the main goroutine, on which it must be called. It does not return.
func (s *stopState) now(exit Exit) {
	s.request(exit)
	s.check()
}

// check unwinds the main goroutine if the engine was stopped.
func (s *stopState) check() {
	if s.requested.Load() {
		panic(stopped{}) //nolint:forbidigo // only a panic unwinds the frames of QuickJS
	}
}
