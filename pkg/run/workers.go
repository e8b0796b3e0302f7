package run

import (
	"context"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// queue is the cases that have not begun, in their order.
type queue struct {
	mu    sync.Mutex
	cases []testCase
}

// take removes the first case of a lane; of any lane when l is nil.
func (q *queue) take(l *lane) (c testCase, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, c := range q.cases {
		if l == nil || c.lane == l {
			copy(q.cases[1:i+1], q.cases[:i]) // most often it is the first
			q.cases = q.cases[1:]
			return c, true
		}
	}
	return testCase{}, false
}

// next is what take would return for any lane, up to n times.
func (q *queue) next(n int) []testCase {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.cases[:min(n, len(q.cases))]
}

// workers is how many sessions there may be at once.
func (r *runner) workers() int {
	if r.Workers > 0 {
		return r.Workers
	}
	return len(r.lanes)
}

// work replays the cases. Those that are not reached, because the run ends early, are noted.
func (r *runner) work(ctx context.Context, cases []testCase) {
	todo := &queue{cases: cases}
	if r.workers() == 1 {
		r.inTurn(ctx, todo)
	} else {
		r.atOnce(ctx, todo)
	}
	for _, rest := range todo.cases {
		r.summary.NotRun = appendNew(r.summary.NotRun, rest.path)
	}
}

// inTurn replays one case after another, while the sessions of the next ones open.
func (r *runner) inTurn(ctx context.Context, todo *queue) {
	r.ahead = newAhead(ctx, r, todo)
	defer r.ahead.close()
	for !r.over(ctx) {
		c, ok := todo.take(nil)
		if !ok {
			return
		}
		r.count(c, r.runCase(ctx, c))
	}
}

// atOnce spreads the workers evenly over the lanes, of which each takes its own cases. A panic ends the run.
func (r *runner) atOnce(ctx context.Context, todo *queue) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, r.workers())
	one := func(l *lane) (more bool) {
		slots <- struct{}{}
		defer func() {
			if p := recover(); p != nil {
				r.panics(fault.Panicked(p), cancel)
				more = false
			}
			<-slots
		}()
		if r.over(ctx) {
			return false
		}
		c, ok := todo.take(l)
		if ok {
			r.count(c, r.runCase(ctx, c))
		}
		return ok
	}
	var wg sync.WaitGroup
	for _, l := range r.lanes {
		for range (r.workers() + len(r.lanes) - 1) / len(r.lanes) {
			wg.Go(func() {
				for more := true; more; {
					more = one(l)
				}
			})
		}
	}
	wg.Wait()
}

func (r *runner) panics(err error, cancel context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.panicked == nil {
		r.panicked = err
	}
	cancel(err)
}

// over reports whether no further case is to begin.
func (r *runner) over(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return ctx.Err() != nil || (r.FailFast && r.summary.ExitCode != fault.ExitPassed)
}
