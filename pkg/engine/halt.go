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
	ctx, cancel := context.WithCancel(context.Background())
	return ctx, &halt{cancel: cancel}
}

func (h *halt) with(exit Exit) {
	h.once.Do(func() {
		h.exit = exit
		h.is.Store(true)
		h.cancel()
	})
}

// halted goes up through JavaScript, which cannot catch it.
type halted struct{}

// check ends what the engine's goroutine is doing once the engine is to end.
func (h *halt) check() {
	if h.is.Load() {
		panic(halted{})
	}
}
