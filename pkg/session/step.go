package session

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Step is a step of a trail.
type Step struct {
	Index int    // from 1
	Of    int    // how many steps there are; 0 for unknown
	Text  string // what the step does, in plain language
	Kind  string // step, verify, trailhead, tools, use or teardown
	// Within is the number of the step that uses the trail with this step, see [event.StepStarted]; empty for a step of
	// the trail itself.
	Within string
	// Unrecorded leaves the step out of the recording, which only has the steps of the trail itself.
	Unrecorded bool
}

// Number returns the number of the step, see [event.StepStarted].
func (st Step) Number() string { return event.StepStarted{Index: st.Index, Within: st.Within}.Number() }

// StepResult is how a step ended. Call is the call that did not pass, nil if there is none.
type StepResult struct {
	Result
	Call *trail.Call
	Soft bool // a call with soft failed, which does not end the step
}

// CallFromTrail is [Session.Call] for a call of a trail file in the running step: references in it are positions. Its
// arguments were validated with [ArgumentProblems]. A call with soft that failed is recorded.
func (s *Session) CallFromTrail(ctx context.Context, st Step, call *trail.Call) CallResult {
	l := s.calls.next(false)
	l.recorded = true
	s.noteCall(l.id, st, call)
	done := s.callAt(ctx, l, *call, true)
	s.Record(done.Recorded)
	return done
}

// StartStep begins a step: calls from now on belong to it.
func (s *Session) StartStep(st Step) {
	s.opts.Emit.Emit(event.StepStarted{Index: st.Index, Of: st.Of, Text: st.Text, Kind: st.Kind, Within: st.Within})
	if s.unrecorded = st.Unrecorded; !s.unrecorded {
		s.recorded = append(s.recorded, trail.StepRecording{})
	}
	if st.Within == "" {
		s.step.Store(int32(st.Index)) //nolint:gosec // no trail has so many
	}
}

// Finish ends the step that was started last. One in which a call with soft failed has failed, but all its calls were
// made, so it is recorded.
func (s *Session) Finish(st Step, done StepResult) {
	if done.Soft && done.OK() {
		s.opts.Emit.Emit(event.StepFinished{Index: st.Index, Outcome: event.Failed, Within: st.Within})
		return
	}
	s.FinishStep(st, done.Outcome)
}

// FinishStep ends the step that was started last. The calls of one that did not pass are not recorded, because the
// recording would be incomplete.
func (s *Session) FinishStep(st Step, outcome event.Outcome) {
	if (outcome == event.Failed || outcome == event.Error) && !st.Unrecorded {
		s.recorded[len(s.recorded)-1] = trail.StepRecording{}
	}
	s.opts.Emit.Emit(event.StepFinished{Index: st.Index, Outcome: outcome, Within: st.Within})
}

// Hidden returns the string arguments of a call that its tool marks as writeOnly, as they are written in the trail.
// They must not be shown.
func (s *Session) Hidden(call trail.Call) []string {
	t, err := s.Registry().Find(call.Tool)
	if err != nil {
		return nil
	}
	var texts []string
	shown := t.MaskedArgs(call.Args)
	for name, value := range call.Args {
		if text, ok := value.(string); ok && text != shown[name] {
			texts = append(texts, text)
		}
	}
	return texts
}
