package engine

import (
	"sync"
	"time"
)

// An inbox holds what other goroutines have for the engine's, and counts what keeps the engine alive.
type inbox struct {
	mu    sync.Mutex
	queue []func()
	refs  int
	news  chan struct{} // holds one when the inbox changed
}

func newInbox() *inbox { return &inbox{news: make(chan struct{}, 1)} }

func (b *inbox) change(f func()) {
	b.mu.Lock()
	f()
	b.mu.Unlock()
	select {
	case b.news <- struct{}{}:
	default:
	}
}

func (b *inbox) put(f func()) { b.change(func() { b.queue = append(b.queue, f) }) }

// take empties the inbox.
func (b *inbox) take() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	queue := b.queue
	b.queue = nil
	return queue
}

func (b *inbox) alive() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refs > 0 || len(b.queue) > 0
}

// emit calls a listener of JavaScript's from the engine's loop. It may be called from any goroutine.
func (e *Engine) emit(id int, args ...any) {
	e.inbox.put(func() { e.kernel.call("emit", append([]any{id}, args...)...) })
}

// ref keeps the engine alive until unref. Both may be called from any goroutine.
func (e *Engine) ref()   { e.inbox.change(func() { e.inbox.refs++ }) }
func (e *Engine) unref() { e.inbox.change(func() { e.inbox.refs-- }) }

// What JavaScript keeps in the memory that it shares with the loop.
const (
	nextTimer     = iota // when the first timer is due, in milliseconds of e.now; 0: there is none
	liveTimers           // timers that keep the engine alive
	allImmediates        // what setImmediate was given
	liveImmediates
	stateSize
)

// now is the engine's clock in milliseconds.
func (e *Engine) now() float64 { return float64(time.Since(e.started).Microseconds()) / 1000 }

// loop goes round in node's order until nothing is left to do: timers, what came from outside, immediates. After each call
// JavaScript itself runs its ticks and microtasks.
func (e *Engine) loop() {
	for {
		for e.alive() {
			e.turn()
		}
		e.kernel.call("beforeExit")
		if !e.alive() {
			return
		}
	}
}

func (e *Engine) turn() {
	state := e.kernel.state
	if next := state[nextTimer]; next > 0 && next <= e.now() {
		e.kernel.call("timers")
	}
	if state[allImmediates] == 0 && e.alive() {
		e.wait()
	}
	for _, f := range e.inbox.take() {
		f()
	}
	if state[allImmediates] > 0 {
		e.kernel.call("immediates")
	}
}

func (e *Engine) alive() bool {
	return e.kernel.state[liveTimers] > 0 || e.kernel.state[liveImmediates] > 0 || e.inbox.alive()
}

// wait returns when there is something to do.
func (e *Engine) wait() {
	var due <-chan time.Time
	if next := e.kernel.state[nextTimer]; next > 0 {
		timer := time.NewTimer(time.Duration((next - e.now()) * float64(time.Millisecond)))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
	case <-e.inbox.news:
	case <-e.ctx.Done():
	}
	e.halt.check()
}
