package run

import (
	"context"
	"slices"
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
			q.cases = slices.Delete(q.cases, i, i+1)
			return c, true
		}
	}
	return testCase{}, false
}

// next is what take would return for any lane, up to n times.
func (q *queue) next(n int) []testCase {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.cases[:min(n, len(q.cases))])
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
	todo := &queue{cases: slices.Clone(cases)}
	if r.workers() == 1 {
		r.inTurn(ctx, todo)
	} else {
		r.atOnce(ctx, todo)
	}
	for _, rest := range todo.cases {
		r.leave(rest)
	}
}

// inTurn replays one case after another, while the sessions of the next ones open.
func (r *runner) inTurn(ctx context.Context, todo *queue) {
	r.ahead = newAhead(ctx, r, todo)
	defer r.ahead.drop()
	for !r.over(ctx) {
		c, ok := todo.take(nil)
		if !ok {
			return
		}
		v := r.runCase(ctx, c)
		r.count(c, v)
		r.ahead.suspect(v)
		if v.outcome != "" {
			r.ahead.done(c)
		}
	}
}

// atOnce spreads the workers evenly over the lanes, of which each takes its own cases. A panic ends the run.
func (r *runner) atOnce(ctx context.Context, todo *queue) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, r.workers())
	one := func(l *lane) (more bool) {
		slots <- struct{}{}
		defer func() { <-slots }()
		if r.over(ctx) {
			return false
		}
		c, ok := todo.take(l)
		if ok {
			r.count(c, r.guarded(ctx, cancel, c))
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

// guarded is runCase for a goroutine of our own: a panic ends the run, and its case with an error.
func (r *runner) guarded(ctx context.Context, cancel context.CancelCauseFunc, c testCase) (v verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = r.panics(fault.Panicked(p), c)
			cancel(v.cause)
		}
	}()
	return r.runCase(ctx, c)
}

// panics notes the first panic, and gives the verdict on its case.
func (r *runner) panics(err error, c testCase) verdict {
	r.mu.Lock()
	if r.panicked == nil {
		r.panicked = err
	}
	r.mu.Unlock()
	v := broken(err).once()
	p := &plan{path: c.path, title: trailName(c.path), lane: c.lane}
	r.Stream.Session("", p.path, nil).Emit(p.finished(v))
	return v
}

// over reports whether no further case is to begin.
func (r *runner) over(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return ctx.Err() != nil || (r.FailFast && r.summary.ExitCode != fault.ExitPassed)
}
