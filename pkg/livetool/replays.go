package livetool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// replays are the replays that run, and those whose result nobody has asked for.
type replays struct {
	mu      sync.Mutex
	n       int
	byID    map[string]*replay
	running sync.WaitGroup
}

// replay is work that may take longer than a client waits.
type replay struct {
	id      string
	what    string
	started time.Time
	cancel  context.CancelCauseFunc
	done    chan struct{}
	answer  Answer // valid when done is closed
	err     error
}

// run starts work and waits for it as [Tools.await] does.
func (ts *Tools) run(ctx context.Context, what string, work func(ctx context.Context) (Answer, error)) (Answer, error) {
	lifetime, cancel := context.WithCancelCause(ts.ctx)
	r := &replay{what: what, started: time.Now(), cancel: cancel, done: make(chan struct{})}
	ts.replays.mu.Lock()
	ts.replays.n++
	r.id = fmt.Sprintf("r%d", ts.replays.n)
	ts.replays.byID[r.id] = r
	ts.replays.mu.Unlock()
	ts.replays.running.Go(func() {
		defer close(r.done)
		defer cancel(nil)
		defer func() {
			if p := recover(); p != nil {
				r.err = fault.Panicked(p)
			}
		}()
		r.answer, r.err = work(lifetime)
	})
	return ts.await(ctx, r)
}

// await waits for a replay, but not longer than Options.RunWait. The end of ctx cancels the replay.
func (ts *Tools) await(ctx context.Context, r *replay) (Answer, error) {
	limit := time.NewTimer(ts.opts.RunWait)
	defer limit.Stop()
	select {
	case <-r.done:
	case <-limit.C:
		return Answer{Text: fmt.Sprintf("%s still runs, for %s; run_trail{\"id\":%q} waits for its result",
			r.what, time.Since(r.started).Round(time.Second), r.id)}, nil
	case <-ctx.Done():
		r.cancel(context.Cause(ctx))
		<-r.done
	}
	ts.replays.mu.Lock()
	delete(ts.replays.byID, r.id)
	ts.replays.mu.Unlock()
	return r.answer, r.err
}

// find returns a replay by its id.
func (r *replays) find(id string) (*replay, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := r.byID[id]; found != nil {
		return found, nil
	}
	return nil, fault.New(fault.InvalidArguments, "a result is given once, and no replay outlives its session; run_trail{file} replays again",
		"no replay has the id %q", id)
}

// cancelAll cancels every replay that was started, waits for them, and returns those whose result was not given. The call
// that started one may still wait for it, and gives the result, too.
func (r *replays) cancelAll(cause error) []*replay {
	r.mu.Lock()
	all := slices.SortedFunc(maps.Values(r.byID), func(a, b *replay) int { return a.started.Compare(b.started) })
	clear(r.byID)
	r.mu.Unlock()
	for _, started := range all {
		started.cancel(cause)
		<-started.done
	}
	return all
}

// result says how a replay ended.
func (r *replay) result() string {
	if r.err != nil {
		return r.what + " has no result: " + faultText(r.err)
	}
	return r.answer.Text
}

// wait waits for every replay.
func (r *replays) wait() { r.running.Wait() }
