package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// StepRequest asks for calls that belong to one step.
type StepRequest struct {
	Text  string       `json:"text"` // what the step does, in plain language
	Kind  string       `json:"kind"` // trail.KindStep or trail.KindVerify
	Calls []trail.Call `json:"calls"`
	// Unrecorded leaves the calls out of the recording. They then need no text.
	Unrecorded bool `json:"unrecorded"`
	// TextLater allows an empty Text: the step gets its text later, with [Reword]. Until then, requests without a text
	// continue it. A recording with such a step is not saved.
	TextLater bool `json:"textLater,omitempty"`
	// LookLater has the report come when the calls have ended, without what changed on the screen. The session looks at
	// the screen after that, when the next request comes, at the latest after the limit of [Settle].
	LookLater bool `json:"lookLater,omitempty"`
	// Refuse has the weaknesses of checks that are not recorded although they succeeded.
	Refuse []Weakness `json:"refuse,omitempty"`
	// StopOnPageChange ends the request after a call that led to another document, or to a dialog or a tab: the calls after it are
	// not made.
	StopOnPageChange bool `json:"pause,omitempty"`

	// Pictures has the report contain the pictures that calls returned.
	Pictures bool `json:"pictures,omitempty"`

	// Agent says that an agent makes the calls, in a session of somebody who may do more: restricted commands are refused,
	// and URLs of other origins than those of AllowedOrigins and of the page that is shown.
	Agent bool `json:"agent,omitempty"`

	// Other says that a process makes the call that the session did not start. It continues the last step, and may do
	// what an agent's call may, and no more than a server at a URL.
	Other bool `json:"other,omitempty"`

	step *replay.Step // the running step, if the session is attached
}

// StepReport is what the calls of a step did.
type StepReport struct {
	Calls    []CallReport `json:"calls"`              // those that were made, and those after a failed one
	Step     int          `json:"step"`               // the step's number in the recording, 0 when nothing was recorded
	Recorded []trail.Call `json:"recorded,omitempty"` // the calls that were added to it, as they are there
	URL      string       `json:"url,omitempty"`      // when it changed
	Changes  string       `json:"changes,omitempty"`  // of the screen, as lines; empty when no call reached the device
	Events   []string     `json:"events,omitempty"`   // dialogs, downloads and others since the last report
	Messages []string     `json:"messages,omitempty"` // what came on the screen since the last report and was gone again
	Warnings []string     `json:"warnings,omitempty"`
	// OtherDocument says that the screen is not that of the document, or app, of the last report.
	OtherDocument bool `json:"otherDocument,omitempty"`
}

// OK reports whether every call succeeded.
func (r StepReport) OK() bool {
	return !slices.ContainsFunc(r.Calls, func(c CallReport) bool { return !c.OK })
}

// CallReport is what one call did.
type CallReport struct {
	Tool       string        `json:"tool"`
	Made       bool          `json:"made"`
	OK         bool          `json:"ok"`
	Outcome    event.Outcome `json:"outcome,omitempty"`
	Kind       fault.Kind    `json:"kind,omitempty"` // why it failed
	Text       string        `json:"text,omitempty"` // of the result, or why it failed
	Structured any           `json:"structured,omitempty"`
	Hint       string        `json:"hint,omitempty"`
	Note       string        `json:"note,omitempty"` // such as that the element was found again
	Weak       Weakness      `json:"weak,omitempty"` // of a check that succeeded
	// Attachments are what the call returned besides text.
	Attachments []Attachment `json:"attachments,omitempty"`
}

// Step makes calls in order, up to the first that fails, and records those that succeeded. Calls with the kind and text
// of the last step continue it. An error means that no call was made, or that ctx ended.
func (s *Session) Step(ctx context.Context, r StepRequest) (StepReport, error) {
	release, err := s.acquire(ctx)
	if err != nil {
		return StepReport{}, err
	}
	report, look, err := s.step(ctx, r)
	if look == nil {
		release()
		return report, err
	}
	s.noteStatus()
	s.looks.Go(func() {
		defer release()
		look()
	})
	return report, err
}

// step is Step while no other request runs. look is what is left to do when the report has been given; nil for nothing.
func (s *Session) step(ctx context.Context, r StepRequest) (report StepReport, look func(), err error) {
	switch {
	case s.attached:
		r, err = s.ofRunningStep(r)
	case r.Other:
		r, err = s.inLastStep(r)
	}
	if err == nil {
		err = s.checkStep(r)
	}
	if err != nil {
		return StepReport{}, nil, err
	}
	if !s.attached {
		s.leaveFinishedParts(ctx, r)
	}
	index := s.place(r)
	st := session.Step{Index: index + 1, Text: r.Text, Kind: r.Kind, Within: s.walk.Current.Within()}
	s.startStep(st)
	before := s.lastView()
	s.between = nil
	report, made := s.makeCalls(ctx, r)
	s.limitPictures(ctx, &report)
	switch {
	case s.inner.Err() != nil: // the failed call has the reason
	case r.LookLater && !s.opts.Agent: // whose pages may be blocked
		look = func() { s.lookLater(context.WithoutCancel(ctx), r, before) }
	default:
		var blocked []string
		if blocked, err = s.reportScreen(ctx, r.Other, &report); len(blocked) > 0 {
			made = s.failLast(&report, made, blocked[0])
		}
		s.noteAction(r, before)
		calls := r.Calls[:len(made)]
		s.weaknesses(calls, made, &report)
		s.neverSeen(calls, &report)
		made = withoutWeak(r, report, made)
	}
	s.finishStep(st, report.OK())
	s.record(index, r, slices.Concat(made...), &report)
	if r.Other {
		s.otherCalls += len(made)
	} else {
		s.noteUnfinished(r, report.OK())
	}
	if len(report.Recorded) > 0 {
		s.keep()
	}
	return report, look, err
}

// lookLater looks at the screen when it has had time to change, or when another request waits. before is what was shown
// before the calls of r.
func (s *Session) lookLater(ctx context.Context, r StepRequest, before *device.View) {
	select {
	case <-s.hurry:
	case <-time.After(s.opts.Settle.limit()):
	case <-s.inner.Done():
		return
	}
	if view, err := s.readView(ctx, device.ViewOptions{}); err == nil {
		s.show(view)
		s.noteAction(r, before)
	}
}

// failLast makes the last successful call of a report that is not a check a failed one, because it led to a page that
// was blocked. It returns what is left of the calls to record: those before it.
func (s *Session) failLast(report *StepReport, made [][]trail.Call, blocked string) [][]trail.Call {
	for i := min(len(made), len(report.Calls)) - 1; i >= 0; i-- {
		c := &report.Calls[i]
		if t, err := s.tools().Find(c.Tool); !c.OK || err != nil || t.Source.Kind != tool.FromDevice || s.isCheck(t) {
			continue
		}
		c.OK, c.Outcome, c.Kind, c.Structured, c.Note = false, event.Failed, fault.ToolFailed, nil, ""
		c.Text = fmt.Sprintf("it led to %s, which was blocked, because its origin is not allowed", blocked)
		c.Hint = "a person can allow it with --allow-origin, or allowedOrigins in trailblaze.yaml, which the next session reads"
		return made[:i]
	}
	return made
}

// record adds calls of the step that ended last to the recording.
func (s *Session) record(index int, r StepRequest, calls []trail.Call, report *StepReport) {
	omitted := s.newlyOmitted(s.inner.Recording().Omitted)
	if r.Unrecorded {
		s.unrecorded += s.actions(report.Calls)
		return
	}
	calls = withoutReferences(calls, report)
	report.Warnings = append(report.Warnings, omitted...)
	if len(calls) == 0 {
		return
	}
	if s.attached {
		s.inner.Record(calls)
	}
	if warning := s.add(index, r, calls); warning != "" {
		report.Warnings = append(report.Warnings, warning)
	}
	report.Step, report.Recorded = index+1, calls
	report.Warnings = append(report.Warnings, s.writtenSecrets(calls)...)
	report.Warnings = append(report.Warnings, s.besideRepair(index)...)
}

// writtenSecrets warns of calls whose recording has a text that the tool keeps secret.
func (s *Session) writtenSecrets(calls []trail.Call) []string {
	var warnings []string
	for _, c := range calls {
		if slices.ContainsFunc(s.inner.Hidden(c), func(text string) bool { return len(trail.TokenNames(text)) == 0 }) {
			warnings = append(warnings, c.Tool+": the recording has the value as it was written; "+
				"to keep it out, start the session with --secret NAME and write {{NAME}}")
		}
	}
	return warnings
}

// actions returns how many calls that succeeded may have changed the app.
func (s *Session) actions(calls []CallReport) int {
	n := 0
	for _, c := range calls {
		if c.OK && s.mayChangeApp(c.Tool) {
			n++
		}
	}
	return n
}

// mayChangeApp reports whether calls of a tool may change the app: those of servers, and of the device's commands those
// that neither check nor read.
func (s *Session) mayChangeApp(name string) bool {
	t, err := s.tools().Find(name)
	if err != nil || t.Source.Kind == tool.FromBuiltin {
		return false
	}
	return t.Source.Kind != tool.FromDevice || !s.isCheck(t) && !slices.Contains(s.kind().Reads, name)
}

// besideRepair warns of a new step that was added where a step waits for its repair.
func (s *Session) besideRepair(index int) []string {
	l := s.walk.Current
	if index != l.Next-1 || !l.Failing {
		return nil
	}
	return []string{fmt.Sprintf("this is a new step before step %d, whose call failed; calls with the text %q replace that call",
		l.Next+1, l.Steps[l.Next].Text)}
}

// noteUnfinished remembers the steps whose last request failed.
func (s *Session) noteUnfinished(r StepRequest, ok bool) {
	step := s.name(r.Kind, r.Text)
	isStep := func(other stepName) bool { return other == step }
	s.unfinished = slices.DeleteFunc(s.unfinished, isStep)
	if ok {
		s.notPassed = slices.DeleteFunc(s.notPassed, isStep)
	}
	if !ok && !r.Unrecorded {
		s.unfinished = append(s.unfinished, step)
	}
}

// newlyOmitted returns what this step had to leave out of the recording.
func (s *Session) newlyOmitted(omitted []string) []string {
	fresh := omitted[min(s.omitted, len(omitted)):]
	s.omitted = len(omitted)
	return fresh
}

// checkStep returns what is wrong with a request, before a call is made.
func (s *Session) checkStep(r StepRequest) error {
	switch {
	case r.Kind != trail.KindStep && r.Kind != trail.KindVerify:
		return fault.New(fault.InvalidArguments, "use step or verify", "unknown kind of step %q", r.Kind)
	case strings.TrimSpace(r.Text) == "" && !r.Unrecorded && !r.TextLater && r.step == nil:
		return fault.New(fault.InvalidArguments, "say in plain language what the calls do, such as: Sign in", "the step has no text")
	case len(r.Calls) == 0:
		return fault.New(fault.InvalidArguments, `give at least one, such as {"web_click": {"ref": "e12"}}`, "the step has no calls")
	}
	checks := false
	for i, call := range r.Calls {
		t, err := s.checkCall(call)
		if err == nil && (r.Agent || r.Other || s.attached) {
			err = s.mayAgentCall(t, call)
		}
		if err != nil {
			if len(r.Calls) > 1 {
				e := fault.As(err)
				return fault.New(e.Kind, e.Hint, "call %d of %d: %s; no call was made", i+1, len(r.Calls), e.Message)
			}
			return err
		}
		checks = checks || s.isCheck(t) && !call.Optional
	}
	if r.Kind == trail.KindVerify && !checks {
		return fault.New(fault.InvalidArguments, "use a call such as assertVisible or web_verifyTextVisible, or make it a step",
			"a verify step needs a call that checks something and can fail; no call was made")
	}
	return nil
}

// checkCall returns the tool of a call, or what is wrong with the call.
func (s *Session) checkCall(call trail.Call) (*discover.Tool, error) {
	t, err := s.inner.Check(call)
	if err != nil {
		return nil, err
	}
	return t, s.mayCall(call)
}

// kind returns the kind of the session's device; the zero value if nothing drives it.
func (s *Session) kind() device.Kind {
	b, _ := s.opts.Device.BackendFor(s.opts.Scope.Driver.Key)
	return b.Kind
}

// isCheck reports whether a verify step may rely on a tool: a check of the device, an assertion of trailblaze, or a
// tool of the project.
func (s *Session) isCheck(t *discover.Tool) bool {
	switch t.Source.Kind {
	case tool.FromDevice:
		return slices.Contains(s.kind().Checks, t.Name)
	case tool.FromBuiltin:
		return strings.HasPrefix(t.Name, "assert")
	default:
		return true
	}
}

// makeCalls makes calls in order, up to the first that fails. made has what is to be recorded for each.
func (s *Session) makeCalls(ctx context.Context, r StepRequest) (report StepReport, made [][]trail.Call) {
	for i, call := range r.Calls {
		done := s.call(ctx, r, call)
		made = append(made, done.Recorded)
		report.Calls = append(report.Calls, s.callReport(r, call, done))
		if located := done.Located; located != nil && done.OK() {
			for _, warning := range located.Warnings {
				report.Warnings = append(report.Warnings, call.Tool+": "+warning)
			}
		}
		rest := r.Calls[i+1:]
		if !done.OK() || len(rest) > 0 && r.StopOnPageChange && s.interrupted(ctx) {
			for _, rest := range rest {
				report.Calls = append(report.Calls, CallReport{Tool: rest.Tool})
			}
			break
		}
	}
	return report, made
}

// call makes a call. What is recorded of it in the running step of a trail is known only when the request has ended.
func (s *Session) call(ctx context.Context, r StepRequest, call trail.Call) session.CallResult {
	switch {
	case s.attached:
		return s.inner.CallUnrecorded(ctx, call)
	case r.Other:
		return s.inner.CallForOther(ctx, call)
	}
	return s.inner.Call(ctx, call)
}

func (s *Session) callReport(r StepRequest, call trail.Call, done session.CallResult) CallReport {
	c := CallReport{Tool: call.Tool, Made: true, OK: done.OK(), Outcome: done.Outcome, Attachments: Attachments(done.Answer)}
	if r.Pictures {
		c.Attachments = withPictures(done.Answer)
	}
	if !c.OK {
		c.Text, c.Hint, c.Kind = done.Reason, done.Hint, fault.KindOf(done.Cause)
		return c
	}
	c.Text = done.Answer.Text
	if value, err := trail.DecodeJSON(done.Answer.Structured); err == nil {
		c.Structured = value
	}
	if done.Located != nil {
		c.Note = done.Located.Again
	}
	return c
}
