package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// replaying is the replay of a plan in a session.
type replaying struct {
	*runner
	session *session.Session
	plan    *plan
	walk    *replay.Walk
	soft    []endFailure // the calls with soft that failed and that no result has yet
	kept    int          // how often evidence of such a call was kept
	skipped int          // steps without a recording
	use     *event.ModelUse
	names   []string // the controls on the screen after each call, with Options.Heal
	broken  *broken  // the recorded call that failed last, with Options.Heal
	final   bool     // see noteModel
}

func (r *runner) newReplaying(s *session.Session, a attempt) *replaying {
	p := a.plan
	out := &replaying{runner: r, session: s, plan: p}
	hooks := replay.Hooks{Unrecorded: out.unrecorded, SoftFailed: out.softFailed, StepFinished: out.stepFinished}
	if r.Heal != nil {
		hooks.CallFailed, hooks.BeforeCall = out.callFailed, out.noteNames
	}
	// Hooks may change the steps of a walk, so that each attempt has steps of its own.
	out.walk = replay.NewWalk(s, r.newReplayPlan(p.File, p.Lineage), hooks)
	if r.Assist != nil || r.Heal != nil {
		out.use = &event.ModelUse{Mode: event.Recorded}
	}
	if r.Assist != nil && (p.assisted() || p.isJudged() || r.mayBeSampled(p)) {
		r.Assist(out.assistedBy(a))
	}
	return out
}

// assistedBy returns the session for somebody who makes calls in it. Events, evidence and use are those of an attempt.
func (p *replaying) assistedBy(a attempt) Assisted {
	in := Assisted{
		Session: p.session, Walk: p.walk, Scope: p.plan.scope, Device: p.plan.device.Device, Path: p.plan.path, Dir: a.evidence.dir, Emit: a.emit,
		Use: p.use, Tasks: p.plan.assisted(), Replay: p.plan.name(),
	}
	if a.plan != nil {
		in.Replay = a.name()
	}
	return in
}

// unrecorded skips a step without a recording, if the options say so.
func (p *replaying) unrecorded(_ context.Context, _ session.Step, st *replay.Step) session.Result {
	if !p.SkipUnrecorded {
		return session.Failed(p.needsAgent(p.plan, st))
	}
	p.skipped++
	return session.Skipped("it needs an agent")
}

// stepFinished keeps evidence of the device after a step of the trail itself.
func (p *replaying) stepFinished(ctx context.Context, at session.Step) {
	if p.Evidence == EvidenceAlways && at.Within == "" && at.Kind != trail.KindTeardown {
		p.session.CollectEvidence(ctx, fmt.Sprintf("steps/%02d", at.Index))
	}
}

// noteModel notes that a call failed because of a model. Another attempt would ask it once more, and pass with the answer
// that fits.
func (p *replaying) noteModel(cause error) {
	kind := fault.KindOf(cause)
	p.final = p.final || kind.IsJudgment() || kind.IsRequestFailure()
}

// steps makes the calls of every step, up to the first that does not pass.
func (p *replaying) steps(ctx context.Context) trailResult {
	if done := p.walk.Run(ctx); !done.OK() {
		return p.stepFailed(done)
	}
	res := passed()
	var skips []string
	if p.skipped > 0 {
		skips = append(skips, fmt.Sprintf("%d of %d steps skipped: they have no recording for this device",
			p.skipped, len(slices.Collect(replay.Leaves(p.plan.Steps)))))
	}
	for _, s := range p.plan.Skipped() {
		skips = append(skips, fmt.Sprintf("%q skipped: %s", s.Text, s.Skip))
	}
	res.Reason = strings.Join(skips, "; ")
	return res
}

// teardown runs the teardown and returns res with what failed. After an interruption, also one that comes while it runs,
// it ends after Options.TeardownLimit.
func (p *replaying) teardown(ctx context.Context, res trailResult) trailResult {
	if err := p.session.Err(); err != nil {
		res.Reason += "\nthe teardown was not run, because the session had ended"
		return res
	}
	ctx, release := p.teardownContext(ctx)
	defer release()
	for _, failed := range p.walk.Teardown(ctx) {
		res = res.withTeardown(p.stepFailed(failed))
	}
	return res
}

// teardownContext returns a context that ends Options.TeardownLimit after ctx has ended. The end of ctx is noted.
func (p *replaying) teardownContext(ctx context.Context) (lasting context.Context, release func()) {
	limit := cmp.Or(p.TeardownLimit, replay.TeardownLimit)
	lasting, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	watched := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(watched)
		p.info(fmt.Sprintf("the teardown runs now, for at most %s", limit))
		limited, cancelLimited := replay.TeardownContext(ctx, limit, "after the interruption")
		defer cancelLimited()
		select {
		case <-limited.Done():
			cancel(context.Cause(limited))
		case <-lasting.Done():
		}
	})
	return lasting, func() {
		cancel(nil)
		if !stop() {
			<-watched
		}
	}
}

// stepFailed returns the result of a trail that a step decided, or that none did.
func (p *replaying) stepFailed(done replay.Ended) trailResult {
	res := trailResult{Result: done.Result}
	switch {
	case done.Step == nil:
		return res
	case done.Call == nil:
		res.final = p.plan.assisted() && done.Step.NeedsAgent // a task that failed has had its retries
		return res.atStep(done.Step, nil)
	case len(done.Undefined) > 0:
		return p.invalidCalls(done.Undefined)
	}
	res = res.atStep(done.Step, done.Call)
	if p.broken != nil && p.broken.number == done.At.Number() && done.Outcome == event.Failed {
		res.broken = p.broken
	}
	p.noteModel(done.Cause)
	res.column, res.hidden = done.Call.Column, p.session.Hidden(*done.Call)
	return res
}
