package run

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// aheadSessions is how many sessions open while a trail runs. One would hide the start of its servers only behind a trail that takes
// as long; more than two start at each other's cost.
const aheadSessions = 2

// ahead makes the next cases ready while one runs: it opens their sessions. It begins when that one's session is open, and a session
// that opens at its own turn opens alone, so that a server which holds something exclusively is never in the way of a trail whose turn
// it is. When a session cannot be opened ahead, none is any more. One goroutine uses it; nil makes nothing ready.
type ahead struct {
	run   *runner
	todo  *queue
	ctx   context.Context //nolint:containedctx // of the sessions until their turn
	ready map[testCase]prepared
	alive sync.WaitGroup // sessions that nobody took
	off   bool

	suspected bool
}

// prepared is a case that is ready: its plan, or why there is none.
type prepared struct {
	plan *plan
	err  error
}

// early is a session that opens before its turn. What it has to say waits.
type early struct {
	id, dir string
	emit    *event.Emitter
	cancel  context.CancelFunc
	opened  chan struct{} // closed when session or failure is set
	session *session
	failure error
	taken   chan struct{} // a receiver has the session
	gone    chan struct{} // closed when nobody will have it, and all of it has ended
}

func newAhead(ctx context.Context, r *runner, todo *queue) *ahead {
	return &ahead{run: r, todo: todo, ctx: ctx, ready: map[testCase]prepared{}, off: r.DryRun}
}

// of returns what is ready of a case.
func (a *ahead) of(c testCase) (p prepared, ok bool) {
	if a == nil {
		return prepared{}, false
	}
	p, ok = a.ready[c]
	return p, ok
}

// done forgets a case that has had its turn.
func (a *ahead) done(c testCase) { delete(a.ready, c) }

// more makes the next cases ready.
func (a *ahead) more() {
	if a == nil || a.off {
		return
	}
	for _, c := range a.todo.next(aheadSessions) {
		if _, begun := a.ready[c]; begun {
			continue
		}
		p, err := a.run.prepare(a.ctx, c)
		if err == nil && p.decided.outcome == "" && opensAhead(p) {
			p.early = a.open(p)
		}
		a.ready[c] = prepared{p, err}
	}
}

// opensAhead reports whether there is something to gain, and no server that must wait for its trail.
func opensAhead(p *plan) bool {
	entries := p.servers()
	return len(entries) > 0 && !slices.ContainsFunc(entries, func(e config.Server) bool { return e.NoPrefetch })
}

// open begins to open the session of a plan. It is nil when its folder cannot be made: its turn is the time to say so.
func (a *ahead) open(p *plan) *early {
	e := &early{id: a.run.newID(p), emit: event.Hold(), opened: make(chan struct{}), taken: make(chan struct{}), gone: make(chan struct{})}
	e.dir = filepath.Join(a.run.Project.LogsDir, e.id)
	if makeSessionDir(e.dir) != nil {
		return nil
	}
	o := a.run.opening(p, e.id, e.dir, e.emit)
	o.ahead = true
	ctx, cancel := context.WithCancel(a.ctx)
	e.cancel = cancel
	a.alive.Go(func() { e.live(ctx, p, o) })
	return e
}

// live opens the session and keeps it until it is taken or not wanted any more.
func (e *early) live(ctx context.Context, p *plan, o opening) {
	e.session, e.failure = openSafely(ctx, p, o)
	close(e.opened)
	if e.failure == nil {
		select {
		case e.taken <- struct{}{}:
			return
		case <-ctx.Done():
			e.session.close(ctx)
		}
	}
	clearLogs(e.dir)
	close(e.gone)
}

func openSafely(ctx context.Context, p *plan, o opening) (s *session, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Panicked(p)
		}
	}()
	return openSession(ctx, p.lane.setup, p.scope, o)
}

// take waits for the session of a plan and hands it over. It is nil when the plan has none, or none that is sound: then nothing else is
// left of what was opened ahead, so that the session can be opened as if there had been nothing.
func (a *ahead) take(p *plan) *session {
	if a == nil {
		return nil
	}
	e := p.early
	p.early = nil
	if e == nil {
		if len(p.servers()) > 0 {
			a.drop()
		}
		return nil
	}
	<-e.opened
	select {
	case <-e.taken:
		e.failure = e.session.broke()
		if e.failure == nil {
			e.session.release = e.cancel
			e.emit.Pass(p.emit)
			e.session.begin()
			return e.session
		}
		e.session.close(a.ctx)
		clearLogs(e.dir)
	case <-e.gone:
	}
	e.cancel()
	if e.failure != nil && a.ctx.Err() == nil {
		p.emit.Log("debug", "run", "servers do not start ahead of their trails any more, because this failed: "+e.failure.Error(), "")
		a.off = true
	}
	a.drop()
	return nil
}

// takenWords are how programs say that something is there once.
var takenWords = regexp.MustCompile(`(?i)EADDRINUSE|address already in use|ECONNREFUSED|connection refused|resource busy|is locked`)

// suspect says so, once in a run, when a trail may have met a session that was open for another one.
func (a *ahead) suspect(v verdict) {
	if len(a.ready) == 0 || a.suspected || v.outcome != event.Failed && v.outcome != event.Error || !takenWords.MatchString(v.reason) {
		return
	}
	a.suspected = true
	a.run.Stream.Emit(event.Log{
		Level: "warn", Source: "run", Message: "while this trail ran, servers of the next ones were started already; two processes of a server may have met",
		Hint: "write startAhead: false into the entry of a server that holds a port, an app or a device",
	})
}

// drop ends the sessions that were opened ahead. Nothing is left of them.
func (a *ahead) drop() {
	var dirs []string
	for _, ready := range a.ready {
		if p := ready.plan; p.early != nil {
			p.early.cancel()
			dirs = append(dirs, p.early.dir)
			p.early = nil
		}
	}
	a.alive.Wait()
	for _, dir := range dirs {
		_ = os.Remove(dir)
	}
}

// clearLogs removes what servers wrote from a session's folder.
func clearLogs(dir string) {
	logs, _ := filepath.Glob(filepath.Join(dir, logPrefix+"*")) // the pattern is sound
	for _, log := range logs {
		_ = os.Remove(log)
	}
}
