package callback

import "sync"

// workers runs functions in goroutines that it keeps for the next ones: the stack of one that has made a call need not grow again.
type workers struct {
	idle   chan func()
	closed chan struct{}
	once   sync.Once
	all    sync.WaitGroup
}

func newWorkers() *workers {
	return &workers{idle: make(chan func()), closed: make(chan struct{})}
}

// run starts f in an idle goroutine, or in a new one.
func (w *workers) run(f func()) {
	select {
	case w.idle <- f:
	default:
		w.all.Go(func() { w.work(f) })
	}
}

func (w *workers) work(f func()) {
	for {
		f()
		select {
		case f = <-w.idle:
		case <-w.closed:
			return
		}
	}
}

// close waits for all that runs. Nothing may be run any more.
func (w *workers) close() {
	w.once.Do(func() { close(w.closed) })
	w.all.Wait()
}
