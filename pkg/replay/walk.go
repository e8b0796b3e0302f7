package replay

import (
	"context"
	"slices"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Walk makes the recorded calls of a plan in a session, step by step. When a call does not pass it stops there, also
// within a trail that a step uses, and can be continued. While it is stopped, the steps of its lists may be changed.
// One goroutine uses a walk.
type Walk struct {
	Root    *Frame // the steps of the trail
	Current *Frame // Root, or the steps of a trail that is being used
	Hooks   Hooks

	session *session.Session
	plan    Plan
	running *Step
	used    map[*trail.Use]map[string]any // those that were started, with their arguments; nil: by an earlier walk
}

// Frame is steps, and how far a walk has come in them.
type Frame struct {
	File  *trail.File // nil for steps that come from no trail
	Steps []*Step     // those that are still to come included
	Next  int         // the index of the first step that is still to come
	// Done is how many calls of that step were made. Failing says that the next of them failed, and nothing has replaced
	// it yet.
	Done    int
	Failing bool
	Outer   *Frame // the frame with the step that uses this trail; nil for the outermost

	use      session.Step // the step of Outer, for events
	leave    func()       // restores the arguments of Outer
	soft     bool         // a call with soft failed
	teardown bool
	before   int // the number of steps before the first
}

// Hooks are called by a walk. Each may be nil.
type Hooks struct {
	// Unrecorded is called for a step without a recording, after it was started. It returns Skipped, Passed if it made
	// the calls of the step, or how the step ended otherwise, which stops the walk. Nil skips the step.
	Unrecorded func(ctx context.Context, at session.Step, st *Step) session.Result
	// CallFailed is called when a call of a step failed: st.Calls[l.Done], where l is the current list. It reports
	// whether it repaired the step. Then it has changed st.Calls and l.Done, or made l.Advance if no call is left, and
	// the walk goes on there. Nil repairs nothing.
	CallFailed func(ctx context.Context, at session.Step, st *Step, failed session.CallResult) (repaired bool)
	// SoftFailed is called when a call with soft failed, and the step goes on. Nil stops the walk at such a call.
	SoftFailed func(ctx context.Context, at session.Step, st *Step, call *trail.Call, why session.Result)
	// BeforeCall is called before each recorded call.
	BeforeCall func(ctx context.Context, at session.Step, call trail.Call)
	// StepFinished is called when a step has ended, also one that uses a trail.
	StepFinished func(ctx context.Context, at session.Step)
	// Entered is called before the first step of a trail that a step uses. It may change the steps of the list.
	Entered func(*Frame)
}

// Ended is how a walk or a step ended, and which step decided that.
type Ended struct {
	session.StepResult
	Step      *Step         // nil if no step did
	At        session.Step  // its number and text
	File      *trail.File   // that the list with the step comes from; nil for none
	Undefined []CallProblem // if a token of the call has no value: all of them, unless the step is that of a used trail
}

// OK reports whether it passed or was skipped.
func (e Ended) OK() bool { return e.Outcome == event.Passed || e.Outcome == event.Skipped }

// CallIndex returns the index of the call that did not pass in its step; -1 for none.
func (e Ended) CallIndex() int {
	if e.Call == nil {
		return -1
	}
	for i := range e.Step.Calls {
		if e.Call == &e.Step.Calls[i] {
			return i
		}
	}
	return -1
}

// NewWalk returns a walk that has not begun. The calls before p.From were made by an earlier one.
func NewWalk(s *session.Session, p Plan, hooks Hooks) *Walk {
	root := &Frame{File: p.File, Steps: p.Steps, Next: p.From.Steps, Done: p.From.Calls}
	w := &Walk{Root: root, Current: root, Hooks: hooks, session: s, plan: p, used: map[*trail.Use]map[string]any{}}
	for _, st := range using(p.Steps[:p.From.Steps]) {
		w.used[st.Use] = nil
	}
	return w
}

// Run makes the calls that are still to come up to p.To, or to the first that does not pass.
func (w *Walk) Run(ctx context.Context) Ended {
	w.resume(w.Current)
	done := w.until(ctx, w.atEnd)
	if err := w.session.Err(); err != nil && done.OK() {
		done.Result = session.Errored(err)
	}
	return done
}

// until makes calls until an end is reached, or one does not pass.
func (w *Walk) until(ctx context.Context, reached func() bool) Ended {
	for !reached() {
		if w.Current.Next == len(w.Current.Steps) {
			w.Leave(ctx)
			continue
		}
		if done := w.step(ctx); !done.OK() {
			w.pause(ctx, done.StepResult)
			return done
		}
	}
	return Ended{StepResult: session.StepResult{Result: session.Passed()}}
}

// Within returns the number of the step that uses the trail with the list, empty for the trail itself.
func (l *Frame) Within() string {
	if l.Outer == nil {
		return ""
	}
	return l.use.Number()
}

func (l *Frame) isNext(st *Step) bool { return l.Next < len(l.Steps) && l.Steps[l.Next] == st }

// At returns the step that is running, or the next one, for events.
func (w *Walk) At() session.Step { return w.Current.numbered() }

// Running returns the step whose calls are made, for hooks; nil for none.
func (w *Walk) Running() *Step { return w.running }

// Advance makes the step after the next one the next.
func (l *Frame) Advance() {
	l.Next++
	l.Done, l.Failing = 0, false
}

// StepsLeft reports whether the list, or one around it, has steps that are still to come.
func (l *Frame) StepsLeft() bool {
	if l.Next < len(l.Steps) {
		return true
	}
	for outer := l.Outer; outer != nil; outer = outer.Outer {
		if outer.Next+1 < len(outer.Steps) { // the next one is that which uses the list
			return true
		}
	}
	return false
}

// Drop removes the step at an index.
func (l *Frame) Drop(index int) {
	l.Steps = slices.Delete(l.Steps, index, index+1)
	switch {
	case index < l.Next:
		l.Next--
	case index == l.Next:
		l.Done, l.Failing = 0, false
	}
}

// Leave goes on after the step that uses the current list, whose steps have all ended.
func (w *Walk) Leave(ctx context.Context) {
	l := w.leave()
	w.finish(ctx, l.use, session.StepResult{Result: session.Passed(), Soft: l.soft})
	w.Current.soft = w.Current.soft || l.soft
	w.Current.Advance()
}

// leave makes the list with the step that uses the current one the current one, and returns the latter.
func (w *Walk) leave() *Frame {
	l := w.Current
	l.leave()
	w.Current = l.Outer
	return l
}

// pause ends, for events, the steps that use the current list.
func (w *Walk) pause(ctx context.Context, why session.StepResult) {
	for l := w.Current; l.Outer != nil; l = l.Outer {
		w.finish(ctx, l.use, why)
	}
}

// resume starts them again, the outermost first.
func (w *Walk) resume(l *Frame) {
	if l.Outer != nil {
		w.resume(l.Outer)
		w.session.StartStep(l.use)
	}
}

func (w *Walk) finish(ctx context.Context, at session.Step, done session.StepResult) {
	w.session.Finish(at, done)
	if w.Hooks.StepFinished != nil {
		w.Hooks.StepFinished(ctx, at)
	}
}

// numbered returns the next step for events.
func (l *Frame) numbered() session.Step {
	st := l.Steps[l.Next]
	at := session.Step{
		Index: l.before + l.Next + 1, Of: l.before + len(l.Steps), Text: st.Text, Kind: st.Kind, Within: l.Within(),
		Unrecorded: l.Outer != nil || l.teardown,
	}
	switch {
	case l.teardown:
		at.Kind = trail.KindTeardown
	case st.Use != nil:
		at.Kind = trail.KindUse
	}
	return at
}

// step makes the calls of the next step that are still to come, or enters the trail that it uses.
func (w *Walk) step(ctx context.Context) Ended {
	l := w.Current
	st, at := l.Steps[l.Next], l.numbered()
	done := Ended{Step: st, At: at, File: l.File}
	if cause := session.Interruption(ctx); cause != nil {
		done.Result = session.Errored(cause)
		return done
	}
	w.session.StartStep(at)
	if st.Use != nil {
		done.Result = w.enter(ctx, st, at)
		return done
	}
	w.running = st
	done.StepResult = w.calls(ctx, st, at)
	w.running = nil
	w.finish(ctx, at, done.StepResult)
	if done.OK() {
		l.soft = l.soft || done.Soft
		if l.isNext(st) && !w.atEnd() {
			l.Advance()
		}
		return done
	}
	if cause := session.Interruption(ctx); cause != nil {
		done.Result = session.Errored(cause)
	} else if done.Call != nil && fault.KindOf(done.Cause) == fault.UnknownValue && st.Root == nil && st.File != nil {
		done.Undefined = undefinedIn(trail.NewValueChecker(w.session.Memory()), st, *done.Call, done.CallIndex())
	}
	return done
}

// calls makes the calls of the next step that are still to come.
func (w *Walk) calls(ctx context.Context, st *Step, at session.Step) session.StepResult {
	if st.NeedsAgent && len(st.Calls) == 0 {
		if w.Hooks.Unrecorded == nil {
			return session.StepResult{Result: session.Skipped("it needs an agent")}
		}
		return session.StepResult{Result: w.Hooks.Unrecorded(ctx, at, st)}
	}
	if len(st.Calls) == 0 {
		w.session.Record([]trail.Call{})
	}
	soft := false
	for l := w.Current; l.isNext(st) && l.Done < len(st.Calls) && !w.atEnd(); {
		call := &st.Calls[l.Done]
		if cause := session.Interruption(ctx); cause != nil {
			return session.StepResult{Result: session.Errored(cause), Call: call, Soft: soft}
		}
		if w.Hooks.BeforeCall != nil {
			w.Hooks.BeforeCall(ctx, at, *call)
		}
		done := w.session.CallFromTrail(ctx, at, call)
		l.Failing = !done.OK()
		switch {
		case done.OK():
			l.Done++
		case done.SoftFailed && w.Hooks.SoftFailed != nil:
			soft = true
			w.Hooks.SoftFailed(ctx, at, st, call, done.Result)
			l.Done, l.Failing = l.Done+1, false
		case w.Hooks.CallFailed == nil || !w.Hooks.CallFailed(ctx, at, st, done):
			return session.StepResult{Result: done.Result, Call: call, Soft: soft}
		}
	}
	return session.StepResult{Result: session.Passed(), Soft: soft}
}

// enter makes the steps of the trail that a step uses the next ones.
func (w *Walk) enter(ctx context.Context, st *Step, at session.Step) session.Result {
	if st.Skip != "" {
		w.recordUse(st)
		result := session.Skipped(st.Skip)
		w.finish(ctx, at, session.StepResult{Result: result})
		w.Current.Advance()
		return result
	}
	leave, err := w.enterArgs(st)
	if err != nil {
		result := session.Failed(err)
		w.finish(ctx, at, session.StepResult{Result: result})
		return result
	}
	w.recordUse(st)
	w.Current = &Frame{File: st.Use.File, Steps: st.Inner, Outer: w.Current, use: at, leave: leave}
	if w.Hooks.Entered != nil && !st.ifUsed {
		w.Hooks.Entered(w.Current)
	}
	return session.Passed()
}

// recordUse adds the call that uses a trail to the recording, which has a step with use: already.
func (w *Walk) recordUse(st *Step) {
	if st.Kind != trail.KindUse {
		w.session.RecordUse(st.Calls)
	}
}

// enterArgs makes the arguments of the trail that a step uses those of the session: for its teardown, those that the
// trail had.
func (w *Walk) enterArgs(st *Step) (leave func(), err error) {
	memory := w.session.Memory()
	if args := w.used[st.Use]; st.ifUsed && args != nil {
		return memory.EnterWith(args), nil
	}
	args, leave, err := memory.Enter(st.Use)
	if err == nil {
		w.used[st.Use] = args
	}
	return leave, err
}

// HasTeardown reports whether the trail, or one that it uses, has a teardown.
func (w *Walk) HasTeardown() bool { return len(w.plan.Teardown) > 0 }

// TeardownLimit is how long a teardown may run after an interruption, or at the end of a live session, unless another
// limit is chosen.
const TeardownLimit = 10 * time.Second

// TeardownContext returns a context that the end of ctx does not end, but a limit does. when says in its error which
// teardown that is.
func TeardownContext(ctx context.Context, limit time.Duration, when string) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.WithoutCancel(ctx), limit,
		fault.New(fault.Timeout, "", "the teardown took longer than %s %s", limit, when))
}

// Teardown runs every step of the teardown, whatever became of those before it, and returns those that did not pass.
// The teardown of a trail that was used runs only if that was started. The walk cannot be continued after it.
func (w *Walk) Teardown(ctx context.Context) []Ended {
	w.Abandon()
	l := &Frame{File: w.plan.File, Steps: w.plan.Teardown, teardown: true, before: len(w.Root.Steps)}
	w.Current = l
	defer func() { w.Current = w.Root }()
	var failed []Ended
	for l.Next < len(l.Steps) {
		st := l.Steps[l.Next]
		if _, used := w.used[st.Use]; st.ifUsed && !used {
			l.Advance()
			continue
		}
		next := l.Next
		if done := w.until(ctx, func() bool { return l.Next > next }); !done.OK() {
			failed = append(failed, done)
			w.abandon(l)
			l.Advance()
		}
	}
	return failed
}

// Abandon leaves the trails that the walk is in, so that another one can begin in the session.
func (w *Walk) Abandon() { w.abandon(w.Root) }

// abandon makes a list the current one, from within the trails that its steps use.
func (w *Walk) abandon(l *Frame) {
	for w.Current != l {
		w.leave()
	}
}
