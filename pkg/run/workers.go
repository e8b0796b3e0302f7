package run

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// queue contains the cases that are not started yet, in order.
type queue struct {
	mu    sync.Mutex
	cases []testCase
}

// take removes and returns the first case for a device; for any device when d is nil.
func (q *queue) take(d *deviceQueue) (c testCase, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, c := range q.cases {
		if d == nil || c.device == d {
			q.cases = slices.Delete(q.cases, i, i+1)
			return c, true
		}
	}
	return testCase{}, false
}

// next returns the first n cases, which stay in the queue.
func (q *queue) next(n int) []testCase {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.cases[:min(n, len(q.cases))])
}

// workers returns how many cases are replayed at once when there are so many in total.
func (r *runner) workers(cases int) int {
	return min(cmp.Or(r.Workers, len(r.devices)), max(cases, 1))
}

// replayAll replays the cases, and counts those that are not started because the run ends early.
func (r *runner) replayAll(ctx context.Context, cases []testCase) {
	todo := &queue{cases: slices.Clone(cases)}
	if workers := r.workers(len(cases)); workers == 1 {
		r.replayInOrder(ctx, todo)
	} else {
		r.replayConcurrently(ctx, todo, workers)
	}
	for _, rest := range todo.cases {
		r.countNotRun(rest)
	}
}

// replayInOrder replays one case after another, and prefetches the sessions of the next ones.
func (r *runner) replayInOrder(ctx context.Context, todo *queue) {
	r.prefetch = newPrefetcher(ctx, r, todo)
	defer r.prefetch.closeAll()
	for !r.done(ctx) {
		c, ok := todo.take(nil)
		if !ok {
			return
		}
		res := r.runAndCount(c, func(l *lease) trailResult { return r.runCase(ctx, c, l) })
		r.prefetch.warnConflict(res)
		if res.Outcome != "" {
			r.prefetch.forget(c)
		}
	}
}

// replayConcurrently divides the workers evenly among the devices. A worker replays only cases for its device. A panic
// ends the run.
func (r *runner) replayConcurrently(ctx context.Context, todo *queue, workers int) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, workers)
	replayOne := func(d *deviceQueue) (more bool) {
		slots <- struct{}{}
		defer func() { <-slots }()
		if r.done(ctx) {
			return false
		}
		c, ok := todo.take(d)
		if ok {
			r.runAndCount(c, func(l *lease) trailResult { return r.runCaseRecovering(ctx, cancel, c, l) })
		}
		return ok
	}
	perDevice := (workers + len(r.devices) - 1) / len(r.devices)
	var wg sync.WaitGroup
	for _, d := range r.devices {
		for range perDevice {
			wg.Go(func() {
				for replayOne(d) {
				}
			})
		}
	}
	wg.Wait()
}

// runAndCount runs a case, and counts its result before another one may use the device.
func (r *runner) runAndCount(c testCase, runCase func(*lease) trailResult) trailResult {
	var l lease
	defer l.release()
	res := runCase(&l)
	r.count(c, res)
	return res
}

// runCaseRecovering calls runCase and recovers a panic, which gives the case the outcome error and ends the run.
func (r *runner) runCaseRecovering(ctx context.Context, cancel context.CancelCauseFunc, c testCase, l *lease) (res trailResult) {
	defer func() {
		if p := recover(); p != nil {
			res = r.casePanicked(fault.Panicked(p), c)
			cancel(res.Cause)
		}
	}()
	return r.runCase(ctx, c, l)
}

// casePanicked keeps the first panic as the cause that ends the run, and returns the result of its case.
func (r *runner) casePanicked(err error, c testCase) trailResult {
	r.mu.Lock()
	if r.panicked == nil {
		r.panicked = err
	}
	r.mu.Unlock()
	res := errored(err).asFinal()
	p := r.newPlan(c)
	r.emitFinished(r.Stream.Session("", p.path, nil), p.finishedEvent(res))
	return res
}

// done reports whether no further case is started.
func (r *runner) done(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.summary.RunFinished
	failures := s.Failed + s.Errors
	if r.FailOnFlaky {
		failures += s.Flaky
	}
	return ctx.Err() != nil || r.MaxFailures > 0 && failures >= r.MaxFailures
}
