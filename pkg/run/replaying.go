package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// defaultTeardownLimit is the default of Options.TeardownLimit.
const defaultTeardownLimit = 10 * time.Second

// replaying is the replay of a plan in a session.
type replaying struct {
	*runner
	session *session.Session
	plan    *plan
	used    map[*trail.Use]bool // the uses of trails that were started
	leaves  map[string]*step    // those that were started and have calls of their own, by their numbers
	soft    []endFailure        // the calls with soft that failed and that no result has yet
	kept    int                 // how often evidence of such a call was kept
}

// ended is how a step ended, and which step, itself or one within it, decided that.
type ended struct {
	session.StepResult
	at *step
}

func (e ended) ok() bool { return e.Outcome == event.Passed || e.Outcome == event.Skipped }

// steps makes the calls of every step, up to the first that does not pass.
func (p *replaying) steps(ctx context.Context) trailResult {
	for _, st := range p.plan.steps {
		done := p.step(ctx, st, p.numbered(st))
		if p.Evidence == EvidenceAlways {
			p.session.CollectEvidence(ctx, fmt.Sprintf("steps/%02d", st.index))
		}
		if !done.ok() {
			return p.stepFailed(done)
		}
	}
	if err := p.session.Err(); err != nil {
		return errored(err)
	}
	res := passed()
	if n := p.plan.agentSteps(); n > 0 {
		res.Reason = fmt.Sprintf("%d of %d steps skipped: they have no recording for this device", n, len(slices.Collect(leaves(p.plan.steps))))
	}
	return res
}

// numbered returns a step of the trail itself as the session knows it.
func (p *replaying) numbered(st *step) session.Step {
	return session.Step{
		Index: st.index, Of: len(p.plan.steps), Text: st.Text, Kind: st.Kind, Calls: st.calls,
		NeedsAgent: st.needsAgent,
	}
}

// step makes the calls of a step, or of the steps of the trail that it uses.
func (p *replaying) step(ctx context.Context, st *step, as session.Step) ended {
	if cause := session.Interruption(ctx); cause != nil {
		return ended{session.StepResult{Result: session.Errored(cause)}, st}
	}
	if st.Use != nil {
		return p.use(ctx, st, as)
	}
	p.leaves[as.Number()] = st
	as.SoftFailed = func(call *trail.Call, why session.Result) { p.softFailed(ctx, as, st, call, why) }
	done := ended{p.session.Replay(ctx, as), st}
	if cause := session.Interruption(ctx); cause != nil && !done.ok() {
		done.Result = session.Errored(cause)
	}
	return done
}

// use runs the steps of the trail that a step uses.
func (p *replaying) use(ctx context.Context, st *step, as session.Step) (done ended) {
	p.session.StartStep(as)
	defer func() { p.session.Finish(as, done.StepResult) }()
	if st.skip != "" {
		return ended{session.StepResult{Result: session.Skipped(st.skip)}, st}
	}
	leave, err := p.session.Memory().Enter(st.Use)
	if err != nil {
		return ended{session.StepResult{Result: session.Failed(err)}, st}
	}
	defer leave()
	p.used[st.Use] = true
	all := ended{session.StepResult{Result: session.Passed()}, st}
	for _, inner := range st.inner {
		done := p.step(ctx, inner, session.Step{
			Index: inner.index, Of: len(st.inner), Text: inner.Text, Kind: inner.Kind, Calls: inner.calls,
			NeedsAgent: inner.needsAgent, Within: as.Number(), Unrecorded: true,
		})
		if !done.ok() {
			return done
		}
		all.Soft = all.Soft || done.Soft
	}
	return all
}

// teardown runs every step of the teardown, whatever became of those before it, and returns res with what failed. After
// an interruption it ends after Options.TeardownLimit.
func (p *replaying) teardown(ctx context.Context, res trailResult) trailResult {
	if err := p.session.Err(); err != nil {
		res.Reason += "\nthe teardown was not run, because the session had ended"
		return res
	}
	if ctx.Err() != nil {
		limit := cmp.Or(p.TeardownLimit, defaultTeardownLimit)
		p.info(fmt.Sprintf("the teardown runs now, for at most %s", limit))
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), limit,
			fault.New(fault.Timeout, "", "the teardown took longer than %s after the interruption", limit))
		defer cancel()
	}
	for _, st := range p.plan.teardown {
		if st.ifUsed && !p.used[st.Use] {
			continue
		}
		as := p.numbered(st)
		as.Of += len(p.plan.teardown)
		as.Kind, as.Unrecorded = trail.KindTeardown, true
		if done := p.step(ctx, st, as); !done.ok() {
			res = res.withTeardown(p.stepFailed(done))
		}
	}
	return res
}

// stepFailed returns the result of a trail that a step decided.
func (p *replaying) stepFailed(done ended) trailResult {
	res := trailResult{Result: done.Result}
	if done.Call == nil {
		return res.atStep(done.at, nil)
	}
	s := p.session
	if fault.KindOf(done.Cause) == fault.UnknownValue && done.at.outer == nil {
		if calls := undefinedIn(trail.NewValueChecker(s.Memory()), done.at, *done.Call); len(calls) > 0 {
			return p.invalidCalls(calls)
		}
	}
	res = res.atStep(done.at, done.Call)
	res.column, res.hidden = done.Call.Column, s.Hidden(*done.Call)
	return res
}
