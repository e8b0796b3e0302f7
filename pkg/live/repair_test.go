package live_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// stopped returns a session in which a trail was replayed up to a call that failed.
func stopped(t *testing.T, steps string) (*fixture, live.TrailRequest) {
	t.Helper()
	f := open(t)
	f.write("trails/a.trail.yaml", "trail:\n"+steps)
	r := live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}
	if report, err := f.RunTrail(t.Context(), r); err != nil || report.Passed() {
		t.Fatalf("%+v, %v", report, err)
	}
	return f, r
}

// TestStatusSaysWhatIsNotSaved repairs the first step of a trail, in which no step is done yet.
func TestStatusSaysWhatIsNotSaved(t *testing.T) {
	t.Parallel()
	f, r := stopped(t, "  - step: A\n    recording:\n      web:\n        - tap: {text: Nobody}\n        - tap: {text: Never}\n")
	check := func(when string, kept, steps int, unsaved bool) {
		t.Helper()
		status, err := f.Status(t.Context())
		if err != nil || status.Kept != kept || status.Steps != steps || status.Unsaved != unsaved {
			t.Errorf("%s: %v, %+v", when, err, status)
		}
	}
	edit := func(e live.Edit) {
		t.Helper()
		if _, err := f.Edit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	check("only replayed", 1, 0, false)
	edit(live.Edit{})
	check("looked at", 1, 0, false)
	f.step("A", call("tap", "text", "Sign in"))
	check("repaired", 1, 0, true)
	f.save(live.SaveRequest{File: r.File, NoReplay: true})
	check("saved", 1, 0, false)
	edit(live.Edit{Drop: "1.2"})
	check("a call dropped", 1, 1, true)
	edit(live.Edit{Drop: "1"})
	check("all dropped", 0, 0, false)
}

func TestRepairKeepsAFailedCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps, kind string
		repair      []trail.Call
		want        string
	}{
		"a call that is not a check": {
			"  - step: A\n    recording:\n      web:\n        - launchApp: {}\n        - assertVisible: {text: Hello} # must hold\n",
			trail.KindStep,
			[]trail.Call{call("tap", "text", "Sign in")},
			"step A: launchApp tap(Sign in) assertVisible(Hello)",
		},
		"a verify step whose check fails again": {
			"  - verify: A\n    recording:\n      web:\n        - assertVisible: {text: Hello} # must hold\n",
			trail.KindVerify,
			[]trail.Call{call("tap", "text", "Sign in"), call("assertVisible", "text", "Nobody")},
			"verify A: tap(Sign in) assertVisible(Hello)",
		},
		"another check": {
			"  - verify: A\n    recording:\n      web:\n        - assertVisible: {text: Hello}\n",
			trail.KindVerify,
			[]trail.Call{call("assertVisible", "text", "Sign in")},
			"verify A: assertVisible(Sign in)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, r := stopped(t, c.steps)
			f.request(live.StepRequest{Text: "A", Kind: c.kind, Calls: c.repair})
			if diff := cmp.Diff(c.want, f.recording()); diff != "" {
				t.Errorf("recording (-want +got):\n%s", diff)
			}
			if report, err := f.RunTrail(t.Context(), r); !report.Passed() && err == nil {
				t.Errorf("the check was not made again: %+v", report)
			}
			if _, err := f.Save(t.Context(), live.SaveRequest{File: r.File}); err != nil {
				t.Fatal(err)
			}
			got := f.read(r.File)
			if strings.Contains(c.steps, "must hold") && !strings.Contains(got, "- assertVisible: {text: Hello} # must hold\n") {
				t.Errorf("the check has changed:\n%s", got)
			}
		})
	}
}

func TestRepairKeepsLinesOfCallsThatAreMadeAgain(t *testing.T) {
	t.Parallel()
	steps := `  - step: A
    recording:
      web:
        - tap: {text: Hello}
          timeout: 30s
        - assertVisible: {text: Hello}
          timeout: 20s
`
	f, r := stopped(t, steps)
	f.step("A", call("tap", "text", "Sign in"), call("tap", "text", "Hello"), call("assertVisible", "text", "Hello"))
	if _, err := f.Save(t.Context(), live.SaveRequest{File: r.File}); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace("trail:\n"+steps, "        - tap:", "        - tap:\n            text: Sign in\n        - tap:", 1)
	if diff := cmp.Diff(want, f.read(r.File)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A block of text ends with a line break, which requests for its step do not have.
func TestRepairsAStepWhoseTextIsABlock(t *testing.T) {
	t.Parallel()
	for _, text := range []string{">\n      Enter", "|\n      Enter", "|-\n      Enter", `"Enter "`, "Enter"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			steps := "  - step: " + text + "\n    recording:\n      web:\n        - tap: {text: Nobody}\n"
			f, r := stopped(t, steps)
			f.step("Enter", call("tap", "text", "Sign in"))
			if _, err := f.Edit(t.Context(), live.Edit{NotPassed: 1}); err != nil {
				t.Fatal(err)
			}
			saved := f.save(live.SaveRequest{File: r.File})
			if want := `the task "Enter" did not pass`; !strings.Contains(strings.Join(saved.Warnings, "\n"), want) {
				t.Errorf("warnings %q", saved.Warnings)
			}
			if diff := cmp.Diff("trail:\n"+strings.Replace(steps, "Nobody", "Sign in", 1), f.read(r.File)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Another timeout, or that a call is optional now, is a repair. What was not said stays.
func TestRepairChangesOptionsOfACall(t *testing.T) {
	t.Parallel()
	steps := `  - step: A
    recording:
      web:
        - tap: {text: Nobody} # flaky
          timeout: 1s
        - assertVisible: {text: Hello}
          timeout: 20s
`
	f, r := stopped(t, steps)
	f.step("A", call("tap", "text", "Sign in"))
	if _, err := f.Edit(t.Context(), live.Edit{Drop: "1.1"}); err != nil {
		t.Fatal(err)
	}
	check := call("assertVisible", "text", "Hello")
	check.Timeout = time.Minute
	check.Optional = true
	f.step("A", check)
	saved := f.save(live.SaveRequest{File: r.File})
	if !slices.ContainsFunc(saved.Warnings, func(w string) bool { return strings.HasPrefix(w, `the check of step "A" changed`) }) {
		t.Errorf("warnings %q", saved.Warnings)
	}
	want := `trail:
  - step: A
    recording:
      web:
        - assertVisible: {text: Hello}
          timeout: 1m0s
          optional: true
`
	if diff := cmp.Diff(want, f.read(r.File)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRewordingDoesNotRecordAnEmptyStep(t *testing.T) {
	t.Parallel()
	f, r := stopped(t, "  - step: A\n    recording:\n      ios:\n        - launchApp: {}\n")
	if _, err := f.Edit(t.Context(), live.Edit{Reword: &live.Reword{Step: 1, Text: "B"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Save(t.Context(), live.SaveRequest{File: r.File, Overwrite: trail.OverwriteOwn, NoReplay: true}); err != nil {
		t.Fatal(err)
	}
	if got := f.read(r.File); strings.Contains(got, "web") {
		t.Errorf("an empty recording was written:\n%s", got)
	}
}

func TestRefusesToSaveVerifyStepsWithoutCheck(t *testing.T) {
	t.Parallel()
	f := open(t)
	optional := call("assertVisible", "text", "Nobody")
	optional.Optional = true
	if r, err := f.Step(t.Context(), live.StepRequest{Text: "Greeted", Kind: trail.KindVerify, Calls: []trail.Call{optional}}); err == nil {
		t.Errorf("an optional check is enough for a verify: %+v", r)
	}
	f.request(live.StepRequest{Text: "Greeted", Kind: trail.KindVerify, Calls: []trail.Call{
		call("tap", "text", "Sign in"), call("assertVisible", "text", "Nobody"),
	}})
	request := live.SaveRequest{File: "trails/a.trail.yaml", NoReplay: true}
	const want = `step 1 "Greeted" is a verify step without a call that checks something`
	if _, err := f.Save(t.Context(), request); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v", err)
	}
	f.request(live.StepRequest{Text: "Greeted", Kind: trail.KindVerify, Calls: []trail.Call{call("assertVisible", "text", "Hello")}})
	if _, err := f.Save(t.Context(), request); err != nil {
		t.Error(err)
	}
	if _, err := f.Edit(t.Context(), live.Edit{Drop: "1.2"}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Save(t.Context(), request); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("after the check was dropped: %v", err)
	}
}

func TestDoesNotRecordReferences(t *testing.T) {
	t.Parallel()
	f := open(t)
	c := call("launchApp")
	c.Timeout = time.Second
	c.Args = map[string]any{"app": map[string]any{"ref": "e1"}}
	r := f.step("Open", c, call("launchApp"))
	if diff := cmp.Diff("step Open: launchApp", f.recording()); diff != "" || len(r.Recorded) != 1 {
		t.Errorf("recorded %v (-want +got):\n%s", r.Recorded, diff)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "launchApp names an element by a reference") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestCallsAfterTheFailedOneHaveNoSecrets(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/a.trail.yaml", "trail:\n  - step: A\n    recording:\n      web:\n"+
		"        - tap: {text: Nobody}\n        - tap: {text: \"98761234\"}\n")
	report, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml", Keep: true})
	if err != nil || len(report.Rest) != 1 || report.Rest[0].Args["text"] != "{{PIN}}" {
		t.Errorf("%+v, %v", report.Rest, err)
	}
}
