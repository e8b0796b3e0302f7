package engine

import (
	"sync"
	"time"
)

// A taskQueue contains functions that the main goroutine will call. It also counts the operations that keep the engine
// running.
type taskQueue struct {
	mu      sync.Mutex
	tasks   []func()
	refs    int           // operations that keep the engine running
	changed chan struct{} // has an element when the queue changed
}

func newTaskQueue() *taskQueue { return &taskQueue{changed: make(chan struct{}, 1)} }

func (q *taskQueue) update(f func()) {
	q.mu.Lock()
	f()
	q.mu.Unlock()
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

func (q *taskQueue) add(f func()) { q.update(func() { q.tasks = append(q.tasks, f) }) }

// drain empties the queue and returns its tasks.
func (q *taskQueue) drain() []func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	tasks := q.tasks
	q.tasks = nil
	return tasks
}

func (q *taskQueue) pending() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refs > 0 || len(q.tasks) > 0
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
	stateNextTimer        = iota // when the first timer is due, in milliseconds of e.now; 0: there is none
	stateActiveTimers            // timers that keep the engine running
	stateImmediates              // callbacks of setImmediate that have not run
	stateActiveImmediates        // those of them that keep the engine running
	stateSize
)

// now is the engine's clock in milliseconds.
func (e *Engine) now() float64 { return float64(time.Since(e.started).Microseconds()) / 1000 }

// runLoop runs the event loop until nothing is left to do. A turn has Node's order: timers, tasks, immediates. After
// each call bootstrap.js runs the callbacks of process.nextTick and the microtasks.
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
