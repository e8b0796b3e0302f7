package run

import (
	"fmt"
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// player makes the calls of a trail in a session and keeps its memory.
type player struct {
	session *session
	plan    *plan
	values  *trail.Values
	calls   int
}

// step makes the calls of one step; the first failure decides.
func (p *player) step(st step) verdict {
	emit := p.session.emit
	emit.Emit(event.StepStarted{Index: st.index, Of: len(p.plan.steps), Text: st.Text, Kind: st.Kind})
	v := p.replay(st)
	emit.Emit(event.StepFinished{Index: st.index, Outcome: v.outcome})
	return v
}

func (p *player) replay(st step) verdict {
	if st.needsAgent {
		return skipped("it needs an agent")
	}
	for _, call := range st.calls {
		if v := p.call(call); v.outcome != event.Passed {
			return v.at(st.index, st.Text, call.Tool, call.Line)
		}
	}
	return passed()
}

// call fills in the values of a recorded call, sends it and applies its result.
func (p *player) call(recorded trail.Call) verdict {
	if cause := p.session.broke(); cause != nil {
		return broken(cause)
	}
	t, args, err := p.ready(recorded)
	if err != nil {
		return failed(err)
	}
	p.calls++
	id := strconv.Itoa(p.calls)
	emit, now := p.session.emit, p.session.setup.Now
	emit.Emit(event.CallStarted{Call: id, Tool: t.Name, Source: t.Source.Name, Args: args})
	begun := now()
	result, err := t.Caller.Call(p.session.ctx, tool.Call{
		InvocationID: tool.NewCapability(), Tool: t.Name, Args: args, Timeout: recorded.Timeout, Context: p.context(),
		Progress: func(message string) { emit.Emit(event.CallProgress{Call: id, Tool: t.Name, Message: message}) },
	})
	v := p.judge(t, result, err)
	done := event.CallFinished{Call: id, Tool: t.Name, OK: v.outcome == event.Passed, DurationMs: now().Sub(begun).Milliseconds()}
	if done.OK {
		done.Text = result.Text
		p.remember(recorded, result)
	} else {
		done.Error, done.Kind = v.reason, fault.KindOf(v.cause)
	}
	emit.Emit(done)
	return v
}

// ready finds the tool, fills in the values and holds what they made of the arguments against the tool's schema: nothing is
// sent that is known to be wrong. Arguments without values were checked before the first call.
func (p *player) ready(recorded trail.Call) (*discover.Tool, map[string]any, error) {
	t, err := p.session.registry.Find(recorded.Tool)
	if err != nil {
		return nil, nil, err
	}
	if len(recorded.Args) > 0 && !trail.HasToken(recorded.Args) {
		return t, recorded.Args, nil
	}
	args, err := trail.Interpolate(recorded.Args, p.values)
	if err != nil {
		return nil, nil, err
	}
	var problems fault.Problems
	for _, misfit := range t.CheckArgs(args, func(string) bool { return false }) {
		problems = append(problems, fault.Problem{
			Kind: fault.InvalidArguments, File: p.plan.path, Line: recorded.Line, Column: recorded.Column,
			Message: fmt.Sprintf("%s: %s", recorded.Tool, misfit.Message), Hint: misfit.Hint,
		})
	}
	return t, args, problems.Err()
}

// judge turns a call's end into a verdict: a tool that says no fails the trail, a source that broke is an error.
func (p *player) judge(t *discover.Tool, result tool.Result, err error) verdict {
	switch {
	case err != nil && fault.KindOf(err) == fault.Cancelled && p.session.broke() != nil:
		return broken(p.session.broke())
	case err != nil:
		return broken(advised(err, crashHint))
	case result.OK:
		return passed()
	}
	why := &fault.Error{Kind: result.Kind, Message: result.Text, Hint: result.Hint}
	switch {
	case result.Fatal:
		return broken(advised(why, fmt.Sprintf("tool %q of %s says that nothing can go on (FatalError); its log may say why", t.Name, t.Source)))
	case result.Kind == fault.Crashed:
		return broken(advised(why, crashHint))
	}
	return failed(why)
}

// remember applies what a successful call leaves behind: memory delta, deletions, then saveAs.
func (p *player) remember(recorded trail.Call, result tool.Result) {
	for name, value := range result.MemoryDelta {
		p.values.Set(name, value)
	}
	for _, name := range result.MemoryDeletions {
		p.values.Delete(name)
	}
	if recorded.SaveAs != "" {
		p.values.Save(recorded.SaveAs, result.Text, result.Structured)
	}
}

// context is what a server is told with the call; secrets are taken out of memory, also where a tool put them there.
func (p *player) context() tool.Context {
	s := p.session
	memory, _ := s.setup.Redactor.Value(p.values.Snapshot()).(map[string]any)
	c := tool.Context{
		SessionID: s.id,
		Memory:    memory,
		Device: tool.Device{
			Platform: string(s.scope.Driver.Platform), Driver: s.scope.Driver.Key, Width: s.setup.Width, Height: s.setup.Height,
		},
	}
	if target := s.scope.Target; target.ID != "" {
		c.Target = &tool.Target{
			ID: target.ID, DisplayName: target.DisplayName, AppIDs: append([]string{}, s.scope.AppIDs()...), AppID: s.scope.AppID,
		}
	}
	return c
}
