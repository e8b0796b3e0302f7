package run

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// attempt is one try at a plan: its events and the folder for its evidence.
type attempt struct {
	*plan
	session  string // its id; empty without one
	emit     *event.Emitter
	evidence evidence
}

// runCase replays a trail until it passes or the attempts are used up. The result has no outcome when the run ended before
// the trail was started.
func (r *runner) runCase(ctx context.Context, c testCase, l *lease) trailResult {
	started := r.Now()
	ready := r.ready(ctx, c)
	p := ready.plan
	if ready.err != nil {
		res := errored(ready.err).atProblem(p.path)
		res.attempts, res.duration = 1, r.Now().Sub(started)
		r.emitFinished(r.Stream.Session("", p.path, nil), p.finishedEvent(res))
		return res
	}
	if p.decided.Outcome == "" && !r.DryRun {
		if !l.acquire(ctx, c.device, p.scope) || r.done(ctx) {
			return trailResult{}
		}
		started = r.Now()
	}
	res, last := r.attempts(ctx, ready)
	if res.record != nil {
		res = r.prove(ctx, last, res)
	}
	if r.Record != "" && res.Outcome != event.Passed {
		last.emit.Log("warn", "recording", r.Record+" is not written, because the trail did not pass", "")
	}
	res = r.heal(ctx, last, res)
	res.duration = r.Now().Sub(started)
	finish := func(res trailResult) trailResult { return r.finishCase(last, res) }
	if res.healing != nil {
		return r.hold(c, res, finish)
	}
	return finish(res)
}

// finishCase reports how a case has ended, and returns that.
func (r *runner) finishCase(last attempt, res trailResult) trailResult {
	defer last.evidence.close()
	finished := last.finishedEvent(res)
	finished.Snippet = r.snippet(finished.FailedAt(), res)
	if res.bad() {
		finished.Artifacts = last.evidence.files()
	}
	r.emitFinished(last.emit, finished)
	return res
}

// emitFinished reports the end of a trail, and adds it to the sums of repeated trails.
func (r *runner) emitFinished(emit *event.Emitter, e event.TrailFinished) {
	r.mu.Lock()
	r.summary.CountRepeat(e)
	r.mu.Unlock()
	emit.Emit(e)
}

// attempts replays a case as often as the options allow, and returns the last attempt and its result.
func (r *runner) attempts(ctx context.Context, c *readyCase) (trailResult, attempt) {
	started := r.Now()
	res, a := r.attempt(ctx, c)
	for res.attempts = 1; res.retryable() && res.attempts <= r.Retries && ctx.Err() == nil; {
		a.emit.Log("warn", "run", fmt.Sprintf("attempt %d of %d: %s: %s", res.attempts, r.Retries+1, res.Outcome, res.Reason), "")
		a.evidence.close()
		attempts := res.attempts + 1
		use := res.use
		earlier := append(res.earlier, event.Attempt{
			Outcome: res.Outcome, Reason: res.Reason, Session: a.session, DurationMs: r.Now().Sub(started).Milliseconds(),
		})
		started = r.Now()
		res, a = r.attempt(ctx, c)
		res.attempts, res.earlier, res.use = attempts, earlier, use.Plus(res.use)
	}
	return res, a
}

// attempt replays a case once, in a session of its own.
func (r *runner) attempt(ctx context.Context, c *readyCase) (trailResult, attempt) {
	p := c.plan
	if p.decided.Outcome != "" {
		return p.decided.asFinal(), r.start(p, "", evidence{})
	}
	if r.DryRun {
		a := r.start(p, "", evidence{})
		return r.dryRun(ctx, p, a.emit), a
	}
	id := r.newSessionID(p)
	if c.early != nil {
		id = c.early.id
	}
	a := r.start(p, id, r.openEvidence(id))
	return r.replayInSession(ctx, c, a, id), a
}

// start announces an attempt in the event stream.
func (r *runner) start(p *plan, sessionID string, kept evidence) attempt {
	var log event.Handler
	if kept.log != nil {
		log = kept.log
	}
	emit := r.Stream.Session(sessionID, p.path, log)
	emit.Emit(event.TrailStarted{
		Case: p.event(), File: p.path, Title: p.title, Target: p.scope.Target.ID, Driver: p.scope.Driver.Key, Agent: string(p.scope.AgentMode),
		Device: p.device.Name, DeviceID: p.device.ID, Steps: len(p.Steps),
	})
	return attempt{p, sessionID, emit, kept}
}

// replayInSession replays a plan in the session that was opened before its turn, or in one that it opens.
func (r *runner) replayInSession(ctx context.Context, c *readyCase, a attempt, id string) trailResult {
	s, release := r.prefetch.take(c, a)
	if s == nil {
		var err error
		s, release, err = r.openSession(ctx, a, id)
		if err != nil {
			res := errored(cmp.Or(session.Interruption(ctx), err))
			res.final = permanent(err)
			return res
		}
	}
	defer release()
	defer s.Close(ctx)
	r.prefetch.openNext()
	res := r.replay(ctx, s, a)
	s.SetOutcome(!res.bad(), res.Reason)
	res.product = s.Product()
	return res
}

// openSession opens the session of an attempt. A session of a trail with a teardown is not ended by ctx once it is
// open; release ends it.
func (r *runner) openSession(ctx context.Context, a attempt, id string) (s *session.Session, release func(), err error) {
	o := r.sessionOptions(a.plan, id, a.evidence.dir, a.emit)
	if len(a.Teardown) == 0 {
		s, err = session.Open(ctx, o)
		return s, func() {}, err
	}
	lifetime, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	s, err = session.Open(lifetime, o)
	stop()
	return s, func() { cancel(nil) }, err
}

// replay validates every call and then makes them.
func (r *runner) replay(ctx context.Context, s *session.Session, a attempt) trailResult {
	r.warnMisspelt(s.Registry(), a.plan, a.emit)
	if problems, _ := a.Check(s.Registry(), false); len(problems) > 0 {
		return r.collectFailure(ctx, s, r.invalidCalls(problems).asFinal())
	}
	p := r.newReplaying(s, a)
	res := r.collectFailure(ctx, s, p.atEnd(ctx, p.steps(ctx), ""))
	if len(a.Teardown) > 0 {
		before := res.bad()
		if res = p.atEnd(ctx, p.teardown(ctx, res), "in the teardown"); !before {
			res = r.collectFailure(ctx, s, res)
		}
	}
	if r.Trace == config.TraceOn || res.bad() {
		s.KeepTrace()
	}
	if res.Outcome == event.Passed {
		r.keepNames(a, p.names)
	}
	r.saveRecording(a, s.Recording())
	res.use, res.final = p.use, res.final || p.final
	return r.writeRecord(a, s.Recording().Steps, res)
}

// collectFailure keeps evidence of the device when a trail did not pass. It returns res.
func (r *runner) collectFailure(ctx context.Context, s *session.Session, res trailResult) trailResult {
	if r.Evidence != EvidenceOff && res.bad() {
		s.CollectEvidence(ctx, "failure")
	}
	return res
}

// snippet shows the line of the call that decided, as the file is now.
func (r *runner) snippet(at event.Position, res trailResult) string {
	if res.column == 0 {
		return ""
	}
	text := r.loader().WithSnippets(fault.Problems{{File: at.File, Line: at.Line, Column: res.column}})[0].Snippet
	for _, hidden := range res.hidden {
		if trail.HasToken(hidden) {
			continue
		}
		for line := range strings.Lines(hidden) {
			if line = strings.TrimSpace(line); line != "" {
				text = strings.ReplaceAll(text, line, "{{hidden}}")
			}
		}
	}
	return text
}
