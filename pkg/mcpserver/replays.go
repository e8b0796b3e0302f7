package mcpserver

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
	answer  answer // valid when done is closed
	err     error
}

// run starts work and waits for it as [server.await] does.
func (s *server) run(ctx context.Context, what string, work func(ctx context.Context) (answer, error)) (answer, error) {
	lifetime, cancel := context.WithCancelCause(s.ctx)
	r := &replay{what: what, started: time.Now(), cancel: cancel, done: make(chan struct{})}
	s.replays.mu.Lock()
	s.replays.n++
	r.id = fmt.Sprintf("r%d", s.replays.n)
	s.replays.byID[r.id] = r
	s.replays.mu.Unlock()
	s.replays.running.Go(func() {
		defer close(r.done)
		defer cancel(nil)
		defer func() {
			if p := recover(); p != nil {
				r.err = fault.Panicked(p)
			}
		}()
		r.answer, r.err = work(lifetime)
	})
	return s.await(ctx, r)
}

// await waits for a replay, but not longer than Options.RunWait. The end of ctx cancels the replay.
func (s *server) await(ctx context.Context, r *replay) (answer, error) {
	limit := time.NewTimer(s.opts.RunWait)
	defer limit.Stop()
	select {
	case <-r.done:
	case <-limit.C:
		return answer{text: fmt.Sprintf("%s still runs, for %s; run_trail{\"id\":%q} waits for its result",
			r.what, time.Since(r.started).Round(time.Second), r.id)}, nil
	case <-ctx.Done():
		r.cancel(context.Cause(ctx))
		<-r.done
	}
	s.replays.mu.Lock()
	delete(s.replays.byID, r.id)
	s.replays.mu.Unlock()
	return r.answer, r.err
}

// find returns a replay by its id.
func (r *replays) find(id string) (*replay, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := r.byID[id]; found != nil {
		return found, nil
	}
	return nil, fault.New(fault.InvalidArguments, "a result is given once; run_trail{file} replays again", "no replay has the id %q", id)
}

// cancelAll cancels every replay that was started and waits for them.
func (r *replays) cancelAll(cause error) {
	r.mu.Lock()
	all := slices.Collect(maps.Values(r.byID))
	clear(r.byID)
	r.mu.Unlock()
	for _, started := range all {
		started.cancel(cause)
		<-started.done
	}
}

// wait waits for every replay.
func (r *replays) wait() { r.running.Wait() }
