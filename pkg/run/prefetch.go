package run

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/session"
)

// prefetchCount is how many sessions are opened while a trail runs. One would hide the start of its servers only behind
// a trail that takes as long; more than two slow each other down.
const prefetchCount = 2

// prefetcher opens the sessions of the next cases while one runs, if the project has startAhead: true. The servers of
// several sessions then run at the same time. A session that was not prefetched is opened when no prefetched session
// exists. When opening a prefetched session fails, the run prefetches no others. One goroutine uses a prefetcher; nil
// prefetches nothing.
type prefetcher struct {
	run     *runner
	todo    *queue
	ctx     context.Context //nolint:containedctx // of the sessions until their turn
	cases   map[testCase]*readyCase
	pending sync.WaitGroup // sessions that were not taken
	off     bool
	warned  bool
}

// readyCase is a case with its plan and its prefetched session, if there is one.
type readyCase struct {
	plan  *plan
	err   error // why the plan cannot be replayed
	early *earlySession
}

// earlySession is a prefetched session. Its events are buffered until it is taken.
type earlySession struct {
	id, dir string
	emit    *event.Emitter
	cancel  context.CancelFunc
	opened  chan struct{} // closed when session or err is set
	session *session.Session
	err     error
	taken   chan struct{} // a receive takes the session
	closed  chan struct{} // closed when the session was not taken and has ended
}

func newPrefetcher(ctx context.Context, r *runner, todo *queue) *prefetcher {
	if !r.Project.StartAhead || r.DryRun {
		return nil
	}
	return &prefetcher{run: r, todo: todo, ctx: ctx, cases: map[testCase]*readyCase{}}
}

// ready returns the readyCase that openNext prepared, or prepares one without a session.
func (r *runner) ready(ctx context.Context, c testCase) *readyCase {
	if r.prefetch != nil && r.prefetch.cases[c] != nil {
		return r.prefetch.cases[c]
	}
	p, err := r.plan(ctx, c)
	return &readyCase{plan: p, err: err}
}

// forget removes the readyCase of a case that was replayed.
func (f *prefetcher) forget(c testCase) {
	if f != nil {
		delete(f.cases, c)
	}
}

// openNext plans the next cases and opens their sessions.
func (f *prefetcher) openNext() {
	if f == nil || f.off {
		return
	}
	for _, c := range f.todo.next(prefetchCount) {
		if f.cases[c] != nil {
			continue
		}
		next := f.run.ready(f.ctx, c)
		if next.err == nil && next.plan.decided.Outcome == "" && f.run.canPrefetch(next.plan) {
			next.early = f.open(next.plan)
		}
		f.cases[c] = next
	}
}

// canPrefetch reports whether prefetching the plan's session saves time and is allowed: it has servers, all of them may
// be prefetched, its device allows several sessions, and no teardown needs it after an interruption.
func (r *runner) canPrefetch(p *plan) bool {
	entries := r.servers(p)
	return len(entries) > 0 && len(p.Teardown) == 0 && !p.device.oneSession(p.scope) &&
		!slices.ContainsFunc(entries, func(e config.Server) bool { return e.NoPrefetch })
}

// open starts opening the session of a plan. It returns nil when the session's folder cannot be made, which is reported
// at the session's turn.
func (f *prefetcher) open(p *plan) *earlySession {
	e := &earlySession{
		id: f.run.newSessionID(p), emit: event.NewBuffer(),
		opened: make(chan struct{}), taken: make(chan struct{}), closed: make(chan struct{}),
	}
	e.dir = filepath.Join(f.run.Project.LogsDir, e.id)
	if session.MakeDir(e.dir) != nil {
		return nil
	}
	o := f.run.sessionOptions(p, e.id, e.dir, e.emit)
	o.DelayDevice = true
	ctx, cancel := context.WithCancel(f.ctx)
	e.cancel = cancel
	f.pending.Go(func() { e.keep(ctx, o) })
	return e
}

// keep opens the session and keeps it until it is taken or ctx ends.
func (e *earlySession) keep(ctx context.Context, o session.Options) {
	e.session, e.err = openRecovering(ctx, o)
	close(e.opened)
	if e.err == nil {
		select {
		case e.taken <- struct{}{}:
			return
		case <-ctx.Done():
			e.session.Close(ctx)
		}
	}
	session.RemoveServerLogs(e.dir)
	close(e.closed)
}

func openRecovering(ctx context.Context, o session.Options) (s *session.Session, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Panicked(p)
		}
	}()
	return session.Open(ctx, o)
}

// take waits for the prefetched session of a case and transfers it to an attempt, which calls release after closing the
// session. The session is nil when there is none or it has failed. Then all other prefetched sessions are closed, so
// that the attempt opens its own session without others.
func (f *prefetcher) take(c *readyCase, a attempt) (s *session.Session, release func()) {
	e := c.early
	c.early = nil
	switch {
	case f == nil:
		return nil, nil
	case e == nil:
		if len(f.run.servers(a.plan)) > 0 {
			f.closeAll()
		}
		return nil, nil
	}
	<-e.opened
	select {
	case <-e.taken:
		e.err = e.session.Err()
		if e.err == nil {
			e.emit.ForwardTo(a.emit)
			e.session.StartDevice()
			return e.session, e.cancel
		}
		e.session.Close(f.ctx)
		session.RemoveServerLogs(e.dir)
	case <-e.closed:
	}
	e.cancel()
	if e.err != nil && f.ctx.Err() == nil {
		a.emit.Log("debug", "run", "sessions are no longer opened before their turn, because one failed: "+e.err.Error(), "")
		f.off = true
	}
	f.closeAll()
	return nil, nil
}

// conflictPattern matches what programs print when they need something that another process holds.
var conflictPattern = lazyregexp.New(
	`(?i)EADDRINUSE|address already in use|ECONNREFUSED|connection refused|resource busy|is locked`)

// warnConflict warns, once in a run, when a trail may have failed because servers of the next sessions ran already.
func (f *prefetcher) warnConflict(res trailResult) {
	if f == nil || len(f.cases) == 0 || f.warned || !res.bad() || !conflictPattern().MatchString(res.Reason) {
		return
	}
	f.warned = true
	f.run.Stream.Emit(event.Log{
		Level: "warn", Source: "run",
		Message: "servers of the next trails were already running during this trail (startAhead: true); two processes of one server may have conflicted",
		Hint:    "write startAhead: false into the entry of a server that holds a port, an app or a device",
	})
}

// closeAll closes the sessions that were not taken and removes their folders.
func (f *prefetcher) closeAll() {
	if f == nil {
		return
	}
	var dirs []string
	for _, c := range f.cases {
		if c.early != nil {
			c.early.cancel()
			dirs = append(dirs, c.early.dir)
			c.early = nil
		}
	}
	f.pending.Wait()
	for _, dir := range dirs {
		session.RemoveEmptyDir(dir)
	}
}
