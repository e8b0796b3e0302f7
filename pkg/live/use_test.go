package live_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestRepairOfTrailThatUsesAnother(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/parts/in.yaml", "trail:\n  - step: S\n    recording:\n      web:\n        - launchApp: {}\n"+
		"        - tap: {text: Nobody}\n          optional: true\n        - tap: {text: Sign in}\n")
	const main = "config: # kept\n  teardown:\n    - use: parts/in.yaml\ntrail:\n  - use: parts/in.yaml # and this\n" +
		"  - step: A\n    recording:\n      web:\n        - assertVisible: {text: Helo}\n"
	f.write("trails/a.trail.yaml", main)
	r := live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}
	report, err := f.RunTrail(t.Context(), r)
	if err != nil || report.Step != 2 || report.Tool != "assertVisible" {
		t.Fatalf("%+v, %v", report, err)
	}
	f.request(live.StepRequest{Text: "A", Kind: trail.KindStep, Calls: []trail.Call{call("assertVisible", "text", "Hello")}})
	saved, err := f.Save(t.Context(), live.SaveRequest{File: r.File})
	if err != nil || !saved.Written {
		t.Fatalf("%+v, %v", saved, err)
	}
	text, err := os.ReadFile(filepath.Join(f.root, "trails", "a.trail.yaml"))
	if want := strings.Replace(main, "Helo", "Hello", 1); err != nil || string(text) != want {
		t.Errorf("saved %v\n%s\nwant\n%s", err, text, want)
	}
	if _, err := f.Save(t.Context(), live.SaveRequest{File: "trails/more/b.trail.yaml"}); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(filepath.Join(f.root, "trails", "more", "b.trail.yaml"))
	if err != nil || strings.Count(string(text), "use: trails/parts/in.yaml") != 2 {
		t.Errorf("in another folder: %v\n%s", err, text)
	}
}

func TestFailureInUsedTrailStopsReplay(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/parts/in.yaml", "trail:\n  - step: S\n    recording:\n      web:\n        - launchApp: {}\n        - tap: {text: Nobody}\n")
	f.write("trails/a.trail.yaml", "trail:\n  - use: parts/in.yaml\n")
	report, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml", Keep: true})
	if err != nil || report.Step != 1 || !strings.HasPrefix(report.Reason, "trails/parts/in.yaml:6: ") ||
		!strings.Contains(report.Hint, "repair trails/parts/in.yaml in a session of its own") {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := f.Edit(t.Context(), live.Edit{Reword: &live.Reword{Step: 1, Text: "x"}}); err == nil {
		t.Error("a step that uses a trail was reworded")
	}
}
