package engine

import (
	"sync"
	"time"
)

// A taskQueue holds functions that the main goroutine is to call, and counts what keeps the engine running.
type taskQueue struct {
	mu      sync.Mutex
	tasks   []func()
	refs    int
	changed chan struct{} // has an element when the queue changed
}

func newTaskQueue() *taskQueue { return &taskQueue{changed: make(chan struct{}, 1)} }

func (b *taskQueue) update(f func()) {
	b.mu.Lock()
	f()
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

func (b *taskQueue) add(f func()) { b.update(func() { b.tasks = append(b.tasks, f) }) }

// drain empties the queue and returns its tasks.
func (b *taskQueue) drain() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	queue := b.tasks
	b.tasks = nil
	return queue
}

func (b *taskQueue) pending() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refs > 0 || len(b.tasks) > 0
}

// emit calls a listener that JavaScript registered with host.listen, from the event loop. It may be called from any
// goroutine.
func (e *Engine) emit(id int, args ...any) {
	e.tasks.add(func() { e.bootstrap.call("emit", append([]any{id}, args...)...) })
}

// ref keeps the engine running until unref. Both may be called from any goroutine.
func (e *Engine) ref()   { e.tasks.update(func() { e.tasks.refs++ }) }
func (e *Engine) unref() { e.tasks.update(func() { e.tasks.refs-- }) }

// Indexes into the state that JavaScript shares with the event loop.
const (
	stateNextTimer    = iota // when the first timer is due, in milliseconds of e.now; 0: there is none
	stateActiveTimers        // timers that keep the engine running
	stateImmediates          // what setImmediate was given
	stateActiveImmediates
	stateSize
)

// now is the engine's clock in milliseconds.
func (e *Engine) now() float64 { return float64(time.Since(e.started).Microseconds()) / 1000 }

// runLoop runs the event loop until nothing is left to do. A turn has node's order: timers, tasks, immediates. After
// each call bootstrap.js runs ticks and microtasks.
func (e *Engine) runLoop() {
	for {
		for e.hasWork() {
			e.runLoopTurn()
		}
		e.bootstrap.call("beforeExit")
		if !e.hasWork() {
			return
		}
	}
}

func (e *Engine) runLoopTurn() {
	state := e.bootstrap.state
	if next := state[stateNextTimer]; next > 0 && next <= e.now() {
		e.bootstrap.call("timers")
	}
	if state[stateImmediates] == 0 && e.hasWork() {
		e.waitForEvent()
	}
	for _, f := range e.tasks.drain() {
		f()
	}
	if state[stateImmediates] > 0 {
		e.bootstrap.call("immediates")
	}
}

func (e *Engine) hasWork() bool {
	return e.bootstrap.state[stateActiveTimers] > 0 || e.bootstrap.state[stateActiveImmediates] > 0 || e.tasks.pending()
}

// waitForEvent waits until the next timer is due, a task is added or the engine is stopped.
func (e *Engine) waitForEvent() {
	var due <-chan time.Time
	if next := e.bootstrap.state[stateNextTimer]; next > 0 {
		timer := time.NewTimer(time.Duration((next - e.now()) * float64(time.Millisecond)))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
	case <-e.tasks.changed:
	case <-e.ctx.Done():
	}
	e.stop.check()
}
