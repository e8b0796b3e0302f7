package run

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// aheadSessions is how many sessions open while a trail runs. One would hide the start of its servers only behind a trail that takes
// as long; more than two start at each other's cost.
const aheadSessions = 2

// ahead opens the sessions of the next cases while one runs. It begins when that one's session is open, so that a server which holds
// something exclusively is at worst in the way of those to come; when one of those cannot be opened, nothing is opened ahead any more.
// One goroutine uses it; nil opens nothing.
type ahead struct {
	run    *runner
	todo   *queue
	ctx    context.Context //nolint:containedctx // of the sessions
	cancel context.CancelCauseFunc
	begun  map[testCase]*begun
	off    bool
}

// begun is a case that was made ready before its turn. What its session has to say waits.
type begun struct {
	plan *plan
	err  error // why there is no plan to run

	id      string
	dir     string
	emit    *event.Emitter
	opened  chan struct{} // closed when session or failure is set; nil when there is no session to be
	session *session
	failure error
}

func newAhead(ctx context.Context, r *runner, todo *queue) *ahead {
	ctx, cancel := context.WithCancelCause(ctx)
	return &ahead{run: r, todo: todo, ctx: ctx, cancel: cancel, begun: map[testCase]*begun{}, off: r.DryRun}
}

// of returns what was begun of a case, nil when that is nothing.
func (a *ahead) of(c testCase) *begun {
	if a == nil {
		return nil
	}
	b := a.begun[c]
	delete(a.begun, c)
	return b
}

// more begins the next cases.
func (a *ahead) more() {
	if a == nil || a.off {
		return
	}
	for _, c := range a.todo.next(aheadSessions) {
		if a.begun[c] == nil {
			a.begun[c] = a.begin(c)
		}
	}
}

func (a *ahead) begin(c testCase) *begun {
	b := &begun{}
	b.plan, b.err = a.run.prepare(a.ctx, c)
	if b.err != nil || b.plan.early.outcome != "" || !opensAhead(b.plan) {
		return b
	}
	b.id = a.run.newID(b.plan)
	b.dir = filepath.Join(a.run.Project.LogsDir, b.id)
	if os.MkdirAll(b.dir, 0o755) != nil {
		return b // its turn is the time to say so
	}
	b.emit, b.opened = event.Hold(), make(chan struct{})
	o := a.run.opening(b.plan, b.id, b.dir, b.emit)
	o.ahead = true
	go func() {
		defer close(b.opened)
		defer func() {
			if p := recover(); p != nil {
				b.failure = fault.Panicked(p)
			}
		}()
		b.session, b.failure = openSession(a.ctx, b.plan.lane.setup, b.plan.scope, o)
	}()
	return b
}

// opensAhead reports whether there is something to gain, and no server that must wait for its trail.
func opensAhead(p *plan) bool {
	entries := p.lane.setup.Project.ServersFor(p.scope.Target.ID)
	return len(entries) > 0 && !slices.ContainsFunc(entries, func(e config.Server) bool { return e.NotAhead })
}

// take hands over the session of a case whose turn it is. It is nil when there is none, or none that is sound: then the others are
// closed too, so that the session can be opened as if nothing had been begun.
func (a *ahead) take(b *begun, p *plan) *session {
	if a == nil || b == nil || b.opened == nil {
		return nil
	}
	<-b.opened
	if b.failure == nil {
		b.failure = b.session.broke()
	}
	if b.failure == nil {
		b.emit.Pass(p.emit)
		b.session.begin()
		return b.session
	}
	p.emit.Log("debug", "run", "servers do not start ahead of their trails any more, because this failed: "+b.failure.Error(), "")
	a.close()
	b.discard(a.ctx)
	return nil
}

// close ends all that was begun and not taken. Nothing is left of it.
func (a *ahead) close() {
	a.off = true
	a.cancel(errClosed)
	var wg sync.WaitGroup
	for _, b := range a.begun {
		wg.Go(func() {
			b.discard(a.ctx)
			_ = os.Remove(b.dir)
		})
	}
	wg.Wait()
	clear(a.begun)
}

// discard ends the session and removes what its servers wrote.
func (b *begun) discard(ctx context.Context) {
	if b.opened == nil {
		return
	}
	<-b.opened
	if b.session != nil {
		b.session.close(ctx)
	}
	for _, name := range logNames(b.plan.lane.setup.Project.ServersFor(b.plan.scope.Target.ID)) {
		_ = os.Remove(filepath.Join(b.dir, name)) // most have none
	}
}
