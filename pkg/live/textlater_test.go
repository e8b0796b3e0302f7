package live_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestStepGetsItsTextLater(t *testing.T) {
	t.Parallel()
	f := open(t)
	later := func(kind string, calls ...trail.Call) live.StepReport {
		t.Helper()
		r, err := f.Step(t.Context(), live.StepRequest{Kind: kind, Calls: calls, TextLater: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if _, err := f.Step(t.Context(), live.StepRequest{Kind: trail.KindStep, Calls: []trail.Call{call("launchApp")}}); fault.KindOf(err) != fault.InvalidArguments {
		t.Errorf("without textLater: %v", err)
	}
	f.step("Start", call("launchApp"))
	if r := later(trail.KindStep, call("tap", "text", "Sign in")); r.Step != 2 {
		t.Errorf("%+v", r)
	}
	if r := later(trail.KindStep, call("isVisible", "text", "Hello")); r.Step != 2 {
		t.Errorf("another request without a text continues the step: %+v", r)
	}
	if r := later(trail.KindVerify, call("assertVisible", "text", "Hello")); r.Step != 3 {
		t.Errorf("a verify is another step: %+v", r)
	}
	later(trail.KindVerify, call("assertVisible", "text", "Never"))
	save := live.SaveRequest{File: "trails/a.trail.yaml"}
	for step, text := range []string{2: "Sign in", 3: "The greeting is shown"} {
		if text == "" {
			continue
		}
		_, err := f.Save(t.Context(), save)
		if fault.KindOf(err) != fault.Misuse || !strings.Contains(err.Error(), "has no text; it calls ") || len(f.replayed) > 0 {
			t.Errorf("saved without a text: %v", err)
		}
		if _, err := f.Edit(t.Context(), live.Edit{Reword: &live.Reword{Step: step, Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	report, err := f.Save(t.Context(), save)
	if err != nil || !report.Written || !strings.Contains(strings.Join(report.Warnings, "\n"), `the last calls of "The greeting is shown" failed`) {
		t.Errorf("%+v %v", report, err)
	}
	data, err := os.ReadFile(filepath.Join(f.root, "trails", "a.trail.yaml"))
	if err != nil || strings.Count(string(data), "- step: ") != 2 || !strings.Contains(string(data), "- verify: The greeting is shown") {
		t.Errorf("%s %v", data, err)
	}
	if r := later(trail.KindStep, call("tap", "text", "Sign in")); r.Step != 4 {
		t.Errorf("after its text, a step is not continued without one: %+v", r)
	}
}

func TestUnfinishedStepIsNamedByItsNewText(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.step("Start", call("launchApp"))
	if _, err := f.Step(t.Context(), live.StepRequest{Kind: trail.KindStep, Calls: []trail.Call{call("tap", "text", "Never")}, TextLater: true}); err != nil {
		t.Fatal(err)
	}
	report, err := f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml"})
	if err != nil || !strings.Contains(strings.Join(report.Warnings, "\n"), "the last calls of the step without a text failed") {
		t.Errorf("%+v %v", report, err)
	}
}
