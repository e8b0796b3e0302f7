package studio

import (
	"context"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// TestSharedSession has a person at the desk and a command work in one session.
func TestSharedSession(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": formPage}, func(o *Options) { o.shared = true })
	p.await("idle", func(o *shown) bool { return o.state.Activity == idle })
	s := &Shared{RedactedSession: p.desk.session.RedactedSession, desk: p.desk, end: p.leave}
	t.Cleanup(func() { s.Close(context.WithoutCancel(t.Context())) })
	step := func(text string, calls ...trail.Call) live.StepReport {
		t.Helper()
		report, err := s.Step(t.Context(), live.StepRequest{Kind: trail.KindStep, Text: text, Calls: calls})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	call := func(tool string, args fields) trail.Call { return trail.Call{Tool: tool, Args: args} }
	if text := p.text(); text != "" {
		t.Errorf("recorded by itself:\n%s", text)
	}
	if r := step("Open the form", call("web_navigate", fields{"url": p.base + "/"})); r.Step != 1 || !r.OK() {
		t.Errorf("%+v", r)
	}
	p.act("click", "Name")
	p.typed("Ann")
	if r := step("Look", call("web_verifyTextVisible", fields{"text": "Name"})); r.Step != 2 {
		t.Errorf("%+v", r)
	}
	p.do("nameStep", fields{"step": "1", "text": "Sign in"}) // begun before the second one came
	if steps := p.document().Steps; steps[0].Text != "Sign in" || steps[1].Text != "Look" {
		t.Errorf("named the wrong one:\n%s", p.text())
	}
	p.do("edit", fields{"edit": fields{"op": "delete", "number": "2"}})
	p.do("record", fields{"on": false}) // which is about what the person does

	r := step("Ask", call("web_click", fields{"ref": `button "Ask"`})) // nobody is asked, so it is dismissed
	if !r.OK() || r.Step != 2 {
		t.Errorf("%+v", r)
	}
	if steps, calls, unsaved := s.Recording(); steps != 2 || calls != 3 || !unsaved {
		t.Errorf("%d steps with %d calls, unsaved %v:\n%s", steps, calls, unsaved, p.text())
	}
	if text, err := s.Edit(t.Context(), live.Edit{}); err != nil || text != p.text() || strings.Index(text, "web_type") > strings.Index(text, "web_click") {
		t.Errorf("%v\n%s", err, text)
	}
	p.await("no dialog", func(o *shown) bool { return o.state.Ask == nil && o.state.Activity == idle })

	stopped := make(chan live.StepReport)
	go func() {
		r, _ := s.Step(t.Context(), live.StepRequest{Kind: trail.KindStep, Text: "Wait", Calls: []trail.Call{
			call("web_navigate", fields{"url": p.base + "/#wait"}), call("web_verifyTextVisible", fields{"text": "never", "timeoutMs": 600_000}),
		}})
		stopped <- r
	}()
	p.await("the call", func(o *shown) bool { return o.has("/#wait") })
	p.do("stop", fields{})
	r = <-stopped
	if steps := p.document().Steps; len(r.Recorded) != 1 || r.Step != 3 || len(steps) != 3 || len(steps[2].Calls) != 1 {
		t.Errorf("%+v\n%s", r, p.text())
	}

	for range 2 {
		check := live.StepRequest{Other: true, Calls: []trail.Call{call("web_verifyTextVisible", fields{"text": "Name"})}}
		if r, err := s.Step(t.Context(), check); err != nil || !r.OK() {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if d := p.document(); len(d.Steps) != 3 || len(d.Steps[2].Calls) != 3 {
		t.Errorf("checks of another process do not continue the step:\n%s", p.text())
	}

	p.do("replay", fields{"mode": "all"})
	if d := p.document(); d.Steps[0].Outcome != passed || s.Err() != nil {
		t.Errorf("%+v, %v", d.Steps, s.Err())
	}
	for do, params := range map[string]any{"device": fields{"name": "other"}, "variable": fields{"name": "a", "value": "b"}} {
		if _, err := p.try(do, params); err == nil || !strings.Contains(err.Error(), "started by the command line") {
			t.Errorf("%s: %v", do, err)
		}
	}
	for p.document().CanUndo {
		p.do("undo", fields{})
	}
	if r, err := s.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml", NoReplay: true}); err == nil {
		t.Errorf("what was undone is saved: %+v", r)
	}
}
