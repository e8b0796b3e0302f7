package run

import (
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// player makes the calls of a trail in a session, keeps its memory, and notes what is to be recorded.
type player struct {
	session *session
	values  *trail.Values
	trail   level
	steps   []trail.StepRecording // of the steps that were begun
	left    []string              // what had to be left out of the recording, for people
	byHand  bool                  // there is no trail
}

func newPlayer(s *session, values *trail.Values) *player {
	return &player{session: s, values: values, trail: level{depth: -1}}
}

// step makes the calls of one of so many steps; the first failure decides.
func (p *player) step(st step, of int) verdict {
	emit := p.session.emit
	emit.Emit(event.StepStarted{Index: st.index, Of: of, Text: st.Text, Kind: st.Kind})
	p.steps = append(p.steps, trail.StepRecording{})
	p.session.step.Store(int32(st.index)) //nolint:gosec // no trail has so many
	v := p.replay(st)
	if v.outcome == event.Failed || v.outcome == event.Error {
		p.steps[len(p.steps)-1] = trail.StepRecording{} // half a step must not pass for a whole one
	}
	emit.Emit(event.StepFinished{Index: st.index, Outcome: v.outcome})
	return v
}

func (p *player) replay(st step) verdict {
	if st.needsAgent {
		return skipped("it needs an agent")
	}
	for _, call := range st.calls {
		if v := p.call(call); v.outcome != event.Passed {
			v.column, v.hidden = call.Column, p.hidden(call)
			return v.at(st.index, st.Text, call.Tool, call.Line)
		}
	}
	if len(st.calls) == 0 {
		p.keep([]trail.Call{})
	}
	return passed()
}

// hidden are the texts in a call that nobody may see, as they stand in the trail.
func (p *player) hidden(call trail.Call) []string {
	t, err := p.session.registry.Load().Find(call.Tool)
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

// call fills in the values of a recorded call, makes it and keeps its result.
func (p *player) call(recorded trail.Call) verdict {
	if cause := p.session.broke(); cause != nil {
		return broken(cause)
	}
	t, args, err := p.ready(recorded)
	if err != nil {
		return failed(err)
	}
	end := p.invoke(p.session.ctx, p.trail.next(false), t, args, recorded)
	v := p.judge(end)
	if v.outcome == event.Passed {
		p.keep(end.calls)
		if recorded.SaveAs != "" {
			p.values.SetResult(recorded.SaveAs, end.result.Text, end.result.Structured)
			p.keepSaved(recorded.SaveAs)
		}
	}
	return v
}

// ready finds the tool, fills in the values and holds what they made of the arguments against the tool's schema: nothing is
// sent that is known to be wrong. Arguments without values were checked before the first call.
func (p *player) ready(recorded trail.Call) (*discover.Tool, map[string]any, error) {
	t, err := p.session.registry.Load().Find(recorded.Tool)
	if err != nil {
		return nil, nil, err
	}
	if len(recorded.Args) > 0 && !trail.HasToken(recorded.Args) && !p.session.reloaded.Load() {
		return t, recorded.Args, nil
	}
	args, err := trail.Interpolate(recorded.Args, p.values)
	if err != nil {
		return nil, nil, err
	}
	return t, args, argsFault(t, t.CheckArgs(args, nothingOpen))
}

// judge turns a call's end into a verdict: a tool that says no fails the trail, a source that broke is an error. What ended the
// session counts before what came of it.
func (p *player) judge(end ended) verdict {
	cause := p.session.broke()
	switch {
	case end.ok():
		return passed()
	case cause != nil:
		return broken(cause)
	case end.err != nil:
		return broken(advised(end.err, crashHint))
	case unreached(end.result.Kind):
		return broken(advised(whyFailed(end.result), crashHint))
	}
	return failed(whyFailed(end.result))
}

// unreached reports whether a call failed because its server did: it crashed, its connection was lost, or what answers there refuses
// to speak with us.
func unreached(kind fault.Kind) bool {
	return kind == fault.Crashed || kind == fault.Server || kind == fault.PermissionDenied
}

func whyFailed(result tool.Result) error {
	return &fault.Error{Kind: result.Kind, Message: result.Text, Hint: result.Hint}
}

// context is what a server is told with the call; secrets are taken out of memory, also where a tool put them there.
func (p *player) context(t *discover.Tool) tool.Context {
	s := p.session
	width, height := s.size()
	memory, _ := s.setup.Redactor.Value(p.values.Snapshot()).(map[string]any)
	c := tool.Context{
		SessionID: s.id,
		Memory:    memory,
		Device: tool.Device{
			Platform: string(s.scope.Driver.Platform), Driver: s.scope.Driver.Key, Width: width, Height: height,
		},
	}
	if door, _ := s.doorFor(t.Source); door != nil {
		c.BaseURL = door.URL()
	}
	if target := s.scope.Target; target.ID != "" {
		c.Target = &tool.Target{
			ID: target.ID, DisplayName: target.DisplayName, AppIDs: append([]string{}, s.scope.AppIDs()...), AppID: s.scope.AppID,
		}
	}
	return c
}
