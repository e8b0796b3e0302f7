package live_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/tool"
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

const brokenPart = "config:\n  args:\n    who: {type: string}\ntrail:\n  - step: S # kept\n    recording:\n      web:\n        - launchApp: {}\n" +
	"        - tap: {text: Nobody} # broken\n        - assertVisible: {text: \"{{args.who}}\"} # kept too\n"

func TestPartIsRepairedFromTheTrailThatUsesIt(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"in trailsDir": "trails/parts", "elsewhere": "shared"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			part, middle := dir+"/in.yaml", "trails/middle.yaml"
			f.write(part, brokenPart)
			f.write(middle, "trail:\n  - use: "+part+"\n    args: {who: Hello}\n")
			const main = "trail:\n  - use: middle.yaml\n  - step: A\n    recording:\n      web:\n        - tap: {text: Hello}\n"
			f.write("trails/a.trail.yaml", main)
			r := live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}
			report, err := f.RunTrail(t.Context(), r)
			if err != nil || report.Part != part || report.Line != 9 || report.Text != "S" || report.Hint != "" {
				t.Fatalf("%+v, %v", report, err)
			}
			f.step("S", call("tap", "text", "Sign in"))
			if report, err := f.RunTrail(t.Context(), r); err != nil || !report.Passed() {
				t.Fatalf("%+v, %v", report, err)
			}
			saved, err := f.Save(t.Context(), live.SaveRequest{File: r.File})
			if err != nil || !saved.Written || len(saved.Parts) != 1 || saved.Parts[0] != part {
				t.Fatalf("%+v, %v", saved, err)
			}
			want := strings.Replace(brokenPart, "Nobody", "Sign in", 1)
			if diff := cmp.Diff(want, f.read(part)); diff != "" || f.read(r.File) != main {
				t.Errorf("saved (-want +got):\n%s\n%s", diff, f.read(r.File))
			}
			if contents := f.contents[len(f.contents)-1]; string(contents[filepath.Join(f.root, part)]) != want {
				t.Errorf("replayed %q", contents)
			}
		})
	}
}

func TestPartThatIsUsedTwiceKeepsItsRepair(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/in.yaml", brokenPart)
	f.write("trails/a.trail.yaml", strings.Repeat("  - use: in.yaml\n    args: {who: Hello}\n", 2))
	f.write("trails/a.trail.yaml", "trail:\n"+f.read("trails/a.trail.yaml")+
		"  - step: Last\n    recording:\n      web:\n        - tap: {text: Gone}\n")
	r := live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}
	if report, err := f.RunTrail(t.Context(), r); err != nil || report.Part != "trails/in.yaml" {
		t.Fatalf("%+v, %v", report, err)
	}
	f.step("S", call("tap", "text", "Sign in"), call("assertVisible", "text", "Hello"))
	report, err := f.RunTrail(t.Context(), r)
	if err != nil || report.Part != "" || report.Text != "Last" {
		t.Fatalf("%+v, %v", report, err)
	}
	f.step("Last", call("tap", "text", "Hello"))
	if saved, err := f.Save(t.Context(), live.SaveRequest{File: r.File, NoReplay: true}); err != nil || !saved.Written {
		t.Fatalf("%+v, %v", saved, err)
	}
	if got := f.read("trails/in.yaml"); strings.Contains(got, "Nobody") || strings.Count(got, "tap") != 1 {
		t.Errorf("saved\n%s", got)
	}
}

func TestPartThatChangedMeanwhileIsNotWritten(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/in.yaml", brokenPart)
	f.write("trails/a.trail.yaml", "trail:\n  - use: in.yaml\n    args: {who: Hello}\n")
	r := live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}
	if _, err := f.RunTrail(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	f.step("S", call("tap", "text", "Sign in"))
	f.write("trails/in.yaml", brokenPart+"# mine\n")
	_, err := f.Save(t.Context(), live.SaveRequest{File: r.File})
	if err == nil || !strings.Contains(err.Error(), "trails/in.yaml was changed") || f.read("trails/in.yaml") != brokenPart+"# mine\n" {
		t.Errorf("%v", err)
	}
}

func TestStepThatUsesATrailIsNotReworded(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/in.yaml", "trail:\n  - step: S\n    recording:\n      web:\n        - launchApp: {}\n")
	f.write("trails/a.trail.yaml", "trail:\n  - use: in.yaml\n")
	if _, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Edit(t.Context(), live.Edit{Reword: &live.Reword{Step: 1, Text: "x"}}); err == nil {
		t.Error("a step that uses a trail was reworded")
	}
}

func TestReplayLooksForFilesBesideTheTrail(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/wiki/a.trail.yaml", "trail:\n  - step: S\n    recording:\n      web:\n        - launchApp: {}\n")
	if _, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/wiki/a.trail.yaml", Keep: true}); err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(f.root, "trails", "wiki"); f.app.trailDir != want {
		t.Errorf("files are looked for in %q, want %q", f.app.trailDir, want)
	}
}

const (
	runsIn   = "trail:\n  - step: In\n    recording: { web: [ { runTrail: { path: in.yaml } } ] }\n"
	evaluate = "  - step: Run\n    recording: { web: [ { web_evaluate: {} } ] }\n"
)

// wantRefusedSave saves into the trail file, which a restricted call in what would be replayed forbids.
func (f *fixture) wantRefusedSave(tool string) {
	f.Helper()
	_, err := f.Save(f.Context(), live.SaveRequest{File: trailFile})
	if fault.KindOf(err) != fault.PermissionDenied || !strings.Contains(err.Error(), `"`+tool+`" is not allowed for agents`) {
		f.Errorf("error %v", err)
	}
	if len(f.replayed) > 0 {
		f.Errorf("replayed %q", f.replayed)
	}
}

func TestSaveMakesNoCallsThatTheCallerMayNotMake(t *testing.T) {
	t.Parallel()
	const main = "config: { teardown: [ { step: Out, recording: { web: [ { tool: {} } ] } } ] }\ntrail:\n" + launch
	inPart := strings.Replace(main, "tool: {}", "runTrail: { path: out.yaml }", 1)
	for name, files := range map[string]map[string]string{
		"in the teardown": {trailFile: strings.Replace(main, "tool", "web_evaluate", 1)},
		"in a part":       {trailFile: inPart, "trails/out.yaml": "trail:\n" + evaluate},
		"in a part of it": {trailFile: inPart, "trails/out.yaml": "trail:\n  - use: more.yaml\n", "trails/more.yaml": "trail:\n" + evaluate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, agent := range []bool{true, false} {
				f := open(t, func(o *live.Options) { o.Agent = agent })
				for name, content := range files {
					f.write(name, content)
				}
				f.step("Open", call("launchApp"))
				if agent {
					f.wantRefusedSave("web_evaluate")
				} else if saved := f.save(live.SaveRequest{File: trailFile}); !saved.Written {
					t.Errorf("a person: %+v", saved)
				}
			}
		})
	}
}

func TestSaveReadsUsedTrailsAgain(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/in.yaml", "trail:\n"+launch)
	f.write(trailFile, runsIn)
	f.replayKept()
	f.write("trails/in.yaml", "trail:\n"+evaluate)
	f.wantRefusedSave("web_evaluate")
}

// What is replayed is what was read to see whether it may be.
func TestSaveReplaysTheUsedTrailsThatItRead(t *testing.T) {
	t.Parallel()
	f := open(t)
	in := f.write("trails/in.yaml", "trail:\n"+launch)
	f.write(trailFile, runsIn)
	f.replayKept()
	saved, err := f.Save(t.Context(), live.SaveRequest{File: trailFile})
	if err != nil || !saved.Written || string(f.contents[0][in]) != "trail:\n"+launch {
		t.Errorf("%v, replayed %q", err, f.contents)
	}
}

// delegating is a tool that has exec called in its place.
type delegating struct{}

func (delegating) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{OK: true, Structured: []byte(`{"_trailblaze_delegates": [{"tool": "exec", "args": {"command": "true"}}]}`)}, nil
}

func TestSaveDoesNotReplayDelegatesThatTheCallerMayNotCall(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *live.Options) {
		ran := func(context.Context, tool.Call, builtin.Program) (tool.Result, error) {
			return tool.Result{OK: true}, nil
		}
		o.Builtins = []discover.Source{builtin.Source(), builtin.ExecSource(ran), {
			Source: tool.Source{Kind: tool.FromServer, Name: "shop"}, Caller: delegating{},
			Tools: []tool.Advertised{{Name: "seed", InputSchema: []byte(`{"type": "object"}`)}},
		}}
	})
	if r := f.step("Seed", call("seed")); !r.OK() || len(r.Recorded) != 1 || r.Recorded[0].Tool != tool.Exec {
		t.Fatalf("%+v", r)
	}
	f.wantRefusedSave(tool.Exec)
}

func TestRepairsTrailsInTheListShapeThatRunOthers(t *testing.T) {
	t.Parallel()
	const part = "trail:\n  - step: In\n    recording: {web: [{tap: {text: Nobody}}]}\n"
	for name, main := range map[string]string{
		"calls":              "- runTrail: {path: in.yaml} # only this\n",
		"tools":              "- tools: [{ runTrail: { path: in.yaml } }]\n",
		"tools before steps": "- tools:\n    - runTrail: {path: in.yaml}\n- prompts:\n    - step: In\n      recording: {tools: [{tap: {text: Gone}}]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.write("trails/in.yaml", part)
			f.write(trailFile, main)
			repairs := []string{"Sign in", "Hello"}[:1+strings.Count(main, "Gone")]
			for _, button := range repairs {
				if r, err := f.RunTrail(t.Context(), live.TrailRequest{File: trailFile, Keep: true}); err != nil || r.Text != "In" {
					t.Fatalf("%+v, %v", r, err)
				}
				f.step("In", call("tap", "text", button))
			}
			f.save(live.SaveRequest{File: trailFile})
			if got := f.read("trails/in.yaml"); got != strings.Replace(part, "Nobody", "Sign in", 1) {
				t.Errorf("the part is\n%s", got)
			}
			if got := f.read(trailFile); got != strings.Replace(main, "Gone", "Hello", 1) {
				t.Errorf("the trail is\n%s", got)
			}
			f.save(live.SaveRequest{File: trailFile, Overwrite: trail.OverwriteAll})
			if got := f.read(trailFile); got != strings.Replace(main, "Gone", "Hello", 1) {
				t.Errorf("overwritten\n%s", got)
			}
		})
	}
}

func TestTrailThatACallRunsIsNotReplaced(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/in.yaml", "trail:\n"+launch)
	f.write("exq.yaml", "trail:\n"+evaluate)
	f.write(trailFile, runsIn)
	f.replayKept()
	_, err := f.Edit(t.Context(), live.Edit{Replace: &live.Replace{Call: "1.1", With: map[string]any{"path": "../exq.yaml"}}})
	if fault.KindOf(err) != fault.InvalidArguments || !strings.Contains(err.Error(), "call 1.1 runs in.yaml") {
		t.Errorf("error %v", err)
	}
	saved, err := f.Save(t.Context(), live.SaveRequest{File: trailFile})
	if err != nil || !saved.Written || f.read(trailFile) != runsIn {
		t.Errorf("%v, saved:\n%s", err, f.read(trailFile))
	}
}
