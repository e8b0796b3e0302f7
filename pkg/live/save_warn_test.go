package live_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// save saves the recording; it fails the test if that is refused.
func (f *fixture) save(r live.SaveRequest) live.SaveReport {
	f.Helper()
	report, err := f.Save(f.Context(), r)
	if err != nil {
		f.Fatal(err)
	}
	return report
}

func TestSaveReplaysAsOftenAsAsked(t *testing.T) {
	t.Parallel()
	f, n := open(t), 0
	g := open(t, func(o *live.Options) {
		o.Replay = func(context.Context, string, map[string][]byte, map[string]string) (live.Replayed, error) {
			if n++; n == 3 {
				return live.Replayed{Outcome: event.Failed, Reason: "flaky", Dialogs: []string{"confirm 98761234, dismissed"}}, nil
			}
			return live.Replayed{Outcome: event.Passed}, nil
		}
	})
	f.step("Open", call("launchApp"))
	if saved := f.save(live.SaveRequest{File: "trails/a.trail.yaml", Replays: 5}); !saved.Written || saved.Replays != 5 || len(f.replayed) != 5 {
		t.Errorf("%+v", saved)
	}
	g.step("Open", call("launchApp"))
	saved := g.save(live.SaveRequest{File: "trails/a.trail.yaml", Replays: 5})
	if saved.Written || n != 3 || !slices.ContainsFunc(saved.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "2 replays passed before, and replay 3 did not")
	}) {
		t.Errorf("%+v", saved)
	}
	if !slices.Equal(saved.Replayed.Dialogs, []string{"confirm {{PIN}}, dismissed"}) {
		t.Errorf("dialogs %q", saved.Replayed.Dialogs)
	}
	for _, r := range []live.SaveRequest{{Replays: -1}, {Replays: 101}, {Replays: 2, NoReplay: true}} {
		r.File = "trails/a.trail.yaml"
		if _, err := g.Save(t.Context(), r); err == nil {
			t.Errorf("%+v was accepted", r)
		}
	}
}

func TestSaveWarnsOfCallsWithoutRecording(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.step("Open", call("launchApp"))
	f.request(live.StepRequest{Kind: trail.KindStep, Unrecorded: true, Calls: []trail.Call{
		call("tap", "text", "Sign in"), call("assertVisible", "text", "Hello"), call("tap", "text", "Hello"),
		call("isVisible", "text", "Hello"),
	}})
	saved := f.save(live.SaveRequest{File: "trails/a.trail.yaml"})
	if !slices.Contains(saved.Warnings, "2 calls were made without recording; if the app keeps what they did, the trail passes only after them") {
		t.Errorf("warnings %q", saved.Warnings)
	}
}

func TestSaveFindsChecksInAStep(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.step("Open", call("launchApp"), call("assertVisible", "text", "Sign in"))
	saved := f.save(live.SaveRequest{File: "trails/a.trail.yaml"})
	if slices.ContainsFunc(saved.Warnings, func(w string) bool { return strings.Contains(w, "does not check") }) {
		t.Errorf("warnings %q", saved.Warnings)
	}
}

func TestSaveWarnsOfAChangedCheck(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/a.trail.yaml", "trail:\n  - verify: Greeted\n    recording:\n      web:\n        - assertVisible: {text: Hello}\n")
	r := live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}
	report, err := f.RunTrail(t.Context(), r)
	if err != nil || !report.Check || report.Repaired {
		t.Fatalf("%+v, %v", report, err)
	}
	f.request(live.StepRequest{Text: "Greeted", Kind: trail.KindVerify, Calls: []trail.Call{call("assertVisible", "text", "Sign in")}})
	if report, err = f.RunTrail(t.Context(), r); err == nil && !report.Repaired {
		t.Errorf("%+v, %v", report, err)
	}
	const want = `the check of verify "Greeted" changed; it must prove as much as before`
	if saved := f.save(live.SaveRequest{File: r.File}); !slices.Contains(saved.Warnings, want) {
		t.Errorf("warnings %q", saved.Warnings)
	}
}

func TestReplayThatPassesRepairsNothing(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/a.trail.yaml", "trail:\n  - step: A\n    recording:\n      web:\n        - launchApp: {}\n")
	report, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml", Keep: true})
	if err != nil || !report.Passed() || report.Repaired {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestSecretsOfTheProjectNeedNoFlag(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *live.Options) { o.Project.SecretNames = []string{"PIN"} })
	f.app.set("98761234")
	f.step("Open", call("launchApp"), call("tap", "text", "{{PIN}}"))
	for _, w := range f.save(live.SaveRequest{File: "trails/a.trail.yaml"}).Warnings {
		if strings.Contains(w, "--secret") {
			t.Errorf("warning %q", w)
		}
	}
}

func TestNewFileHasItsTitleWithOverwrite(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.step("Open", call("launchApp"))
	saved := f.save(live.SaveRequest{File: "trails/a.trail.yaml", Overwrite: trail.OverwriteOwn, Title: "It's: new"})
	for _, w := range saved.Warnings {
		if strings.Contains(w, "title") {
			t.Errorf("warning %q", w)
		}
	}
}

func TestSaveWarnsOfPositions(t *testing.T) {
	t.Parallel()
	f := open(t)
	at := map[string]any{"web": map[string]any{"ariaRole": "button", "nthIndex": 1}}
	f.step("Delete", trail.Call{Tool: "tap", Args: map[string]any{"text": "Sign in", "nodeSelector": at}}, call("tap", "text", "Sign in"))
	saved := f.save(live.SaveRequest{File: "trails/a.trail.yaml", NoReplay: true})
	const want = "call 1.1, tap, finds its element by its position (nthIndex: 1), which may change"
	positions := func(r live.SaveReport) int {
		return strings.Count(strings.Join(r.Warnings, "\n"), "by its position")
	}
	if positions(saved) != 1 || !strings.Contains(strings.Join(saved.Warnings, "\n"), want) {
		t.Errorf("%q", saved.Warnings)
	}
	selector := map[string]any{"web": map[string]any{"ariaRole": "button", "ariaNameRegex": "Delete"}}
	replace := &live.Replace{Call: "1.1", With: map[string]any{"nodeSelector": selector}}
	if text, err := f.Edit(t.Context(), live.Edit{Replace: replace}); err != nil || strings.Contains(text, "nthIndex") {
		t.Errorf("%s, %v", text, err)
	}
	if saved = f.save(live.SaveRequest{File: "trails/b.trail.yaml", NoReplay: true}); positions(saved) != 0 {
		t.Errorf("%q", saved.Warnings)
	}
}
