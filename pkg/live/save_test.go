package live_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func (f *fixture) write(name, content string) string {
	f.Helper()
	path := filepath.Join(f.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		f.Fatal(err)
	}
	return path
}

func (f *fixture) read(name string) string {
	f.Helper()
	data, err := os.ReadFile(filepath.Join(f.root, name))
	if err != nil {
		f.Fatal(err)
	}
	return string(data)
}

const brokenTrail = `config:
  title: Sign in # kept
trail:
  - step: Open
    recording:
      web:
        - launchApp: {}
  - step: Sign in
    recording:
      ios:
        - tap: {text: Enter}
      web:
        - tap: { text: "Sign in" } # first
        - tap: {text: Log in}
        - tap: {text: Hello} # last
  - verify: Greeted
    recording:
      web:
        - assertVisible: {text: Hello}
`

func TestRepairsATrail(t *testing.T) {
	t.Parallel()
	const repaired = "step Open: launchApp\nstep Sign in: tap(Sign in) tap(Hello)\nverify Greeted: assertVisible(Hello)"
	for name, c := range map[string]struct {
		repair []trail.Call
		want   string
		done   bool
	}{
		"the failing call only": {
			[]trail.Call{call("isVisible", "text", "Hello")},
			"step Open: launchApp\nstep Sign in: tap(Sign in) isVisible(Hello) tap(Hello)\nverify Greeted: assertVisible(Hello)", false,
		},
		"with the calls after it": {
			[]trail.Call{call("isVisible", "text", "Hello"), call("tap", "text", "Hello")},
			"step Open: launchApp\nstep Sign in: tap(Sign in) isVisible(Hello) tap(Hello)\nverify Greeted: assertVisible(Hello)", true,
		},
		"the calls after it alone": {[]trail.Call{call("tap", "text", "Hello")}, repaired, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.write("trails/a.trail.yaml", brokenTrail)
			r := live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}
			report, err := f.RunTrail(t.Context(), r)
			if err != nil || report.Passed() || report.Step != 2 || report.Tool != "tap" || report.Line != 14 {
				t.Fatalf("%+v, %v", report, err)
			}
			if len(report.Rest) != 1 {
				t.Errorf("rest %+v", report.Rest)
			}
			f.step("Sign in", c.repair...)
			if diff := cmp.Diff(c.want, f.recording()); diff != "" {
				t.Errorf("recording (-want +got):\n%s", diff)
			}
			before := len(f.app.tapped)
			report, err = f.RunTrail(t.Context(), r)
			if err != nil || !report.Passed() {
				t.Fatalf("%+v, %v", report, err)
			}
			if madeRest := len(f.app.tapped) > before; madeRest == c.done {
				t.Errorf("tapped %q", f.app.tapped)
			}
			if diff := cmp.Diff(c.want, f.recording()); diff != "" {
				t.Errorf("recording at the end (-want +got):\n%s", diff)
			}
			saved, err := f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml"})
			if err != nil || !saved.Written {
				t.Fatalf("%+v, %v", saved, err)
			}
			got := f.read("trails/a.trail.yaml")
			for line := range strings.SplitSeq(brokenTrail, "\n") {
				if !strings.Contains(line, "Log in") && !strings.Contains(got, line+"\n") && line != "" {
					t.Errorf("the line %q is gone from\n%s", line, got)
				}
			}
			if strings.Contains(got, "Log in") {
				t.Errorf("the broken call is left in\n%s", got)
			}
		})
	}
}

func TestStepsBeforeTheRepairAreInserted(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/a.trail.yaml", brokenTrail)
	r := live.TrailRequest{File: "a.trail.yaml", Keep: true}
	if _, err := f.RunTrail(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	warnings := f.step("Accept cookies", call("tap", "text", "Hello")).Warnings
	want := `this is a new step before step 3, whose call failed; calls with the text "Sign in" replace that call`
	if !slices.Contains(warnings, want) {
		t.Errorf("warnings %q", warnings)
	}
	f.app.set("Sign in", "Hello", "Log in")
	if report, err := f.RunTrail(t.Context(), r); err != nil || !report.Passed() {
		t.Fatalf("%+v, %v", report, err)
	}
	want = "step Open: launchApp\nstep Accept cookies: tap(Hello)\nstep Sign in: tap(Sign in) tap(Log in) tap(Hello)\n" +
		"verify Greeted: assertVisible(Hello)"
	if diff := cmp.Diff(want, f.recording()); diff != "" {
		t.Errorf("recording (-want +got):\n%s", diff)
	}
}

func TestRefusesToReplayCallsThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		f := open(t)
		f.write("trails/a.trail.yaml", strings.Replace(brokenTrail, "assertVisible: {text: Hello}", "web_evaluate: {}", 1))
		_, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml", Keep: keep})
		if fault.KindOf(err) != fault.PermissionDenied || len(f.app.tapped) > 0 || len(f.replayed) > 0 {
			t.Errorf("keep %t: %v, tapped %q", keep, err, f.app.tapped)
		}
	}
}

func TestReplaysOnlyTrailsAndParts(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("a.trail.yaml", brokenTrail)
	f.write("trails/parts/in.yml", brokenTrail)
	for _, name := range []string{".env", "other.yaml", "trails/notes.txt"} {
		f.write(name, "API_KEY=sk-live-1")
	}
	if err := os.Symlink(filepath.Join(f.root, ".env"), filepath.Join(f.root, "trails", "link.trail.yaml")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".env", "trails/../.env", "other.yaml", "trails/notes.txt", "trails/link.trail.yaml"} {
		for _, keep := range []bool{false, true} {
			_, err := f.RunTrail(t.Context(), live.TrailRequest{File: name, Keep: keep})
			if fault.KindOf(err) != fault.InvalidArguments || strings.Contains(err.Error(), "sk-live") {
				t.Errorf("%s, keep %t: %v", name, keep, err)
			}
		}
	}
	for _, name := range []string{"a.trail.yaml", "trails/parts/in.yml"} {
		if _, err := f.RunTrail(t.Context(), live.TrailRequest{File: name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReferencesOfATrailArePositions(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/a.trail.yaml", "trail:\n  - step: Tap\n    recording:\n      web:\n        - tap: {ref: e1}\n")
	if _, err := f.Snapshot(t.Context(), live.SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	f.app.set("First", "Sign in")
	if _, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.app.tapped, []string{"First"}) {
		t.Errorf("tapped %q", f.app.tapped)
	}
}

func TestSavesWhatPassesItsReplay(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.step("Open", call("launchApp"))
	f.step("Greet", call("rememberValue", "name", "who", "value", "{{name}}"))
	request := live.SaveRequest{File: "trails/new/greet.trail.yaml", Title: "Greet"}

	f.replay = live.Replayed{Outcome: event.Failed, Reason: "no 98761234", Step: 2}
	report, err := f.Save(t.Context(), request)
	if err != nil || report.Written || report.Replayed.Reason != "no {{PIN}}" {
		t.Fatalf("%+v, %v", report, err)
	}
	if _, err := os.Stat(filepath.Join(f.root, "trails")); !os.IsNotExist(err) {
		t.Error("a trail that did not pass was written")
	}

	f.replay = live.Replayed{Outcome: event.Passed}
	if report, err = f.Save(t.Context(), request); err != nil || !report.Written || !strings.Contains(report.Diff, "+  - step: Open") {
		t.Fatalf("%+v, %v", report, err)
	}
	content := f.read("trails/new/greet.trail.yaml")
	if content != f.replayed[1] {
		t.Errorf("replayed\n%s\nwritten\n%s", f.replayed[1], content)
	}
	for _, want := range []string{"title: Greet", "name: Ada", "{{name}}"} {
		if !strings.Contains(content, want) {
			t.Errorf("%s is missing in\n%s", want, content)
		}
	}

	f.step("Again", call("launchApp"))
	request.NoReplay = true
	if report, err = f.Save(t.Context(), request); err != nil || !report.Written || len(f.replayed) != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	if content := f.read("trails/new/greet.trail.yaml"); !strings.Contains(content, "replayed: false") {
		t.Errorf("no metadata in\n%s", content)
	}
	request.NoReplay = false
	if _, err = f.Save(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if content := f.read("trails/new/greet.trail.yaml"); strings.Contains(content, "replayed") {
		t.Errorf("metadata is left in\n%s", content)
	}
}

// A device that allows one session at a time is released before a trail is replayed in another session.
func TestReplayGetsTheDevice(t *testing.T) {
	t.Parallel()
	var released []int // how often, at the start of each replay
	f := open(t, func(o *live.Options) {
		replay := o.Replay
		o.Replay = func(ctx context.Context, path string, contents map[string][]byte, args map[string]string) (live.Replayed, error) {
			a, _ := o.Device.Backends[0].Backend.(*app)
			released = append(released, a.released)
			return replay(ctx, path, contents, args)
		}
	})
	f.step("Open", call("launchApp"))
	const note = "the replay used the device of this session"
	report, err := f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml"})
	if err != nil || !report.Written || strings.Contains(strings.Join(report.Warnings, ""), note) {
		t.Fatalf("%+v, %v", report, err)
	}
	f.replay = live.Replayed{Outcome: event.Failed}
	f.step("More", call("launchApp"))
	if report, err = f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml"}); err != nil || !strings.Contains(strings.Join(report.Warnings, ""), note) {
		t.Errorf("%+v, %v", report, err)
	}
	replayed, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml"})
	if err != nil || !strings.Contains(strings.Join(replayed.Events, ""), note) {
		t.Errorf("%+v, %v", replayed, err)
	}
	if !slices.Equal(released, []int{1, 2, 3}) {
		t.Errorf("released %v", released)
	}
}

func TestRefusesToSave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"no file":           {"", "no file is named"},
		"outside trailsDir": {"other/a.trail.yaml", "is not below it"},
		"above":             {"trails/../a.trail.yaml", "is not below it"},
		"absolute":          {"/tmp/a.trail.yaml", "is not below it"},
		"another name":      {"trails/a.yaml", "has another name"},
		"a link":            {"trails/link.trail.yaml", "is a symbolic link"},
		"a linked folder":   {"trails/folder/a.trail.yaml", "trails/folder is a symbolic link"},
		"a folder":          {"trails/dir.trail.yaml", "is not a regular file"},
		"other steps":       {"trails/other.trail.yaml", "overwrite"},
		"not a trail":       {"trails/bad.trail.yaml", "bad.trail.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.write("trails/other.trail.yaml", "trail:\n  - step: Something else\n    recording: {web: [{launchApp: {}}]}\n")
			f.write("trails/bad.trail.yaml", "trail: 7\n")
			target := f.write("target.trail.yaml", "")
			for link, to := range map[string]string{"link.trail.yaml": target, "folder": f.root} {
				if err := os.Symlink(to, filepath.Join(f.root, "trails", link)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(filepath.Join(f.root, "trails/dir.trail.yaml"), 0o755); err != nil {
				t.Fatal(err)
			}
			f.step("Open", call("launchApp"))
			report, err := f.Save(t.Context(), live.SaveRequest{File: c.file})
			text := ""
			if err != nil {
				text = err.Error() + session.Hint(err)
			}
			if !strings.Contains(text, c.want) || report.Written || len(f.replayed) > 0 {
				t.Errorf("error %q, want %q", text, c.want)
			}
		})
	}
	f := open(t)
	if _, err := f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml"}); err == nil || !strings.Contains(err.Error(), "nothing was recorded") {
		t.Errorf("an empty recording: %v", err)
	}
}

func TestWarnsOfARecordingThatBeginsInTheMiddle(t *testing.T) {
	t.Parallel()
	for first, warns := range map[string]bool{"tap": true, "launchApp": false, "rememberValue": false} {
		f := open(t)
		begin := call(first, "text", "Sign in")
		switch first {
		case "launchApp":
			begin = call(first)
		case "rememberValue":
			begin = call(first, "name", "a", "value", "b")
		}
		f.step("Begin", begin)
		report, err := f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml"})
		warned := slices.ContainsFunc(report.Warnings, func(w string) bool { return strings.Contains(w, "the first call is") })
		if err != nil || warned != warns {
			t.Errorf("%s: %q, %v", first, report.Warnings, err)
		}
	}
}

func TestWarnsOfWhatARecordingLacks(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.step("Open", call("launchApp"), call("rememberValue", "name", "pin", "value", "{{PIN}}"))
	f.request(live.StepRequest{Text: "Greeted", Kind: trail.KindVerify, Calls: []trail.Call{call("assertVisible", "text", "Hello")}})
	save := func() []string {
		t.Helper()
		report, err := f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		return report.Warnings
	}
	want := []string{
		`the last calls of "Greeted" failed, and are not in the trail`,
		"the trail has no verify step, so it does not check any result",
		"the trail needs a secret: run it with --secret PIN, or list PIN under secrets: in trailblaze.yaml",
	}
	if diff := cmp.Diff(want, save()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f.request(live.StepRequest{Text: "Greeted", Kind: trail.KindVerify, Calls: []trail.Call{call("assertVisible", "text", "Sign in")}})
	if diff := cmp.Diff(want[2:], save()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOverwritesOtherSteps(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/a.trail.yaml", "config:\n  title: Old\ntrail:\n  - step: Something else\n    recording: {web: [{launchApp: {}}]}\n")
	f.step("Open", call("launchApp"))
	report, err := f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml", Overwrite: trail.OverwriteOwn, Title: "New"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "the title of a file that exists is not changed"; !slices.Contains(report.Warnings, want) {
		t.Errorf("warnings %q", report.Warnings)
	}
	if got := inShort(t, f.read("trails/a.trail.yaml")); got != "step Open: launchApp" {
		t.Error(got)
	}
}

func TestRefusesAFileThatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/a.trail.yaml", brokenTrail)
	if _, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}); err != nil {
		t.Fatal(err)
	}
	f.write("trails/a.trail.yaml", brokenTrail+"# changed\n")
	if _, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}); fault.KindOf(err) != fault.Trail {
		t.Errorf("error of a second replay %v", err)
	}
	if _, err := f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml"}); fault.KindOf(err) != fault.Trail {
		t.Errorf("error %v", err)
	}
}

func TestRefusesALinkThatIsMadeDuringTheReplay(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	var f *fixture
	f = open(t, func(o *live.Options) {
		o.Replay = func(context.Context, string, map[string][]byte, map[string]string) (live.Replayed, error) {
			if err := os.MkdirAll(filepath.Join(f.root, "trails"), 0o755); err != nil {
				t.Error(err)
			}
			return live.Replayed{Outcome: event.Passed}, os.Symlink(outside, filepath.Join(f.root, "trails", "new"))
		}
	})
	f.step("Open", call("launchApp"))
	report, err := f.Save(t.Context(), live.SaveRequest{File: "trails/new/a.trail.yaml"})
	if err == nil || !strings.Contains(err.Error(), "trails/new is a symbolic link") || report.Written {
		t.Errorf("%+v, %v", report, err)
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("written: %v", entries)
	}
}

func TestWarnsOfChecksThatTheFileLoses(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/a.trail.yaml", "trail:\n  - step: Open\n    recording:\n      web:\n        - launchApp: {}\n"+
		"        - assertVisible: {text: Sign in}\n")
	f.step("Open", call("launchApp"))
	report, err := f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml"})
	if want := `step "Open" had 1 check in the file, now 0`; err != nil || !slices.Contains(report.Warnings, want) {
		t.Errorf("warnings %q, %v", report.Warnings, err)
	}
}

func TestRefusesToAddTheValueOfASecret(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *live.Options) { o.Memory["pin98761234"] = "Ada" })
	f.write("trails/a.trail.yaml", "# 98761234\ntrail:\n  - step: Open\n    recording:\n      web:\n        - launchApp: {}\n")
	f.step("Open", call("launchApp"))
	report, err := f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml"})
	if err == nil || !strings.Contains(err.Error(), "the value of a secret") || report.Written {
		t.Errorf("%+v, %v", report, err)
	}
}

// The text of a step stays, also if it has the value of a secret, and may be written as answers show it.
func TestRepairsAStepWhoseTextHasTheValueOfASecret(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Enter 98761234", "Enter {{PIN}}"} {
		f := open(t)
		const steps = "trail:\n  - step: Enter 98761234\n    recording:\n      web:\n        - tap: {text: Nobody}\n"
		f.write("trails/in.yaml", steps)
		const uses = "trail:\n  - use: in.yaml\n" + "  - step: See 98761234\n    recording: {web: [{tap: {text: Gone}}]}\n"
		f.write(trailFile, uses)
		keep := live.TrailRequest{File: trailFile, Keep: true}
		if r, err := f.RunTrail(t.Context(), keep); err != nil || r.Text != "Enter {{PIN}}" {
			t.Fatalf("%+v, %v", r, err)
		}
		f.step(text, call("tap", "text", "Sign in"))
		if r, err := f.RunTrail(t.Context(), keep); err != nil || r.Text != "See {{PIN}}" {
			t.Fatalf("%+v, %v", r, err)
		}
		f.step(strings.Replace(text, "Enter", "See", 1), call("tap", "text", "Hello"))
		f.save(live.SaveRequest{File: trailFile})
		if got, want := f.read("trails/in.yaml"), strings.Replace(steps, "Nobody", "Sign in", 1); got != want {
			t.Errorf("the part is\n%s", got)
		}
		if got, want := f.read(trailFile), strings.Replace(uses, "Gone", "Hello", 1); got != want {
			t.Errorf("the trail is\n%s", got)
		}
		f.save(live.SaveRequest{File: "trails/b.trail.yaml"})
		if got := f.read("trails/b.trail.yaml"); !strings.Contains(got, "See {{PIN}}") {
			t.Errorf("the new trail is\n%s", got)
		}
		if _, err := f.Edit(t.Context(), live.Edit{Reword: &live.Reword{Step: 2, Text: "Look at 98761234"}}); err != nil {
			t.Fatal(err)
		}
		f.save(live.SaveRequest{File: trailFile, Overwrite: trail.OverwriteOwn})
		if got := f.read(trailFile); !strings.Contains(got, "Look at {{PIN}}") {
			t.Errorf("with another text\n%s", got)
		}
	}
}

func TestRepairInAnotherFileHasNoID(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/a.trail.yaml", strings.Replace(brokenTrail, "config:\n", "config:\n  id: sign-in\n", 1))
	f.repaired("trails/a.trail.yaml")
	for _, file := range []string{"trails/b.trail.yaml", "trails/a.trail.yaml"} {
		if _, err := f.Save(t.Context(), live.SaveRequest{File: file}); err != nil {
			t.Fatal(err)
		}
		if hasID := strings.Contains(f.read(file), "id: sign-in"); hasID != (file == "trails/a.trail.yaml") {
			t.Errorf("%s:\n%s", file, f.read(file))
		}
	}
}

// repaired replays a brokenTrail with a repair.
func (f *fixture) repaired(file string) {
	f.Helper()
	keep := live.TrailRequest{File: file, Keep: true}
	if r, err := f.RunTrail(f.Context(), keep); err != nil || r.Step != 2 {
		f.Fatalf("%+v, %v", r, err)
	}
	f.step("Sign in", call("tap", "text", "Hello"))
	if r, err := f.RunTrail(f.Context(), keep); err != nil || !r.Passed() {
		f.Fatalf("%+v, %v", r, err)
	}
}

func TestCallsOfStepsThatAreNotRecordableAreLeftOut(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/a.trail.yaml", "trail:\n  - step: Open\n    recording: {web: [launchApp: {}]}\n  - step: Sign in\n    recordable: false\n")
	if r, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}); err != nil || r.Step != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r := f.step("Sign in", call("tap", "text", "Sign in")); len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "recordable: false") {
		t.Errorf("%+v", r)
	}
	for _, file := range []string{"trails/b.trail.yaml", "trails/a.trail.yaml"} {
		report, err := f.Save(t.Context(), live.SaveRequest{File: file, NoReplay: true})
		want := `the calls of step 2 "Sign in" are not written, because the step is recordable: false`
		if err != nil || !slices.Contains(report.Warnings, want) || strings.Contains(f.read(file), "tap") {
			t.Errorf("%s: %+v, %v\n%s", file, report, err, f.read(file))
		}
	}
}
