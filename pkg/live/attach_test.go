package live_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// eventLog collects events of steps in short.
type eventLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *eventLog) Handle(r event.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e := r.Event.(type) {
	case event.StepFinished:
		l.lines = append(l.lines, e.Number()+" "+string(e.Outcome))
	case event.CallFinished:
		l.lines = append(l.lines, map[bool]string{true: "made ", false: "failed "}[e.OK]+e.Tool)
	case event.TrailFinished:
		l.lines = append(l.lines, string(e.Outcome)+": "+e.Reason)
	}
}

// assist makes calls for steps by their texts, in sessions that are attached to the walks of a run.
type assist struct {
	*testing.T
	options live.Options
	calls   map[string][]trail.Call
}

func (a *assist) hooks(in run.Assisted) {
	s, w := in.Session, in.Walk
	a.options.Scope = in.Scope
	a.options.Scope.Target.AppIDs = map[scope.Platform][]string{scope.Web: {"com.shop"}}
	act := func(ctx context.Context, st *replay.Step) bool {
		attached := live.Attach(ctx, s, w, a.options)
		a.onlyActs(attached)
		shot, err := attached.Snapshot(ctx, live.SnapshotOptions{})
		if err != nil || !strings.Contains(shot.Text, "[ref=") {
			a.Errorf("snapshot: %v\n%s", err, shot.Text)
		}
		calls := a.calls[st.Text]
		if len(calls) == 0 {
			return false
		}
		report, err := attached.Step(ctx, live.StepRequest{Kind: trail.KindStep, Calls: calls})
		if err != nil {
			a.Error(err)
		}
		return err == nil && report.OK()
	}
	w.Hooks.CallFailed = func(ctx context.Context, _ session.Step, st *replay.Step, _ session.CallResult) bool {
		return act(ctx, st)
	}
	w.Hooks.Unrecorded = func(ctx context.Context, _ session.Step, st *replay.Step) session.Result {
		if act(ctx, st) {
			return session.Passed()
		}
		return session.Failed(fault.New(fault.ToolFailed, "", "nobody knows how"))
	}
}

// onlyActs fails the test if something else than harmless calls is possible.
func (a *assist) onlyActs(s *live.RedactedSession) {
	a.Helper()
	ctx := a.Context()
	_, evaluated := s.Step(ctx, live.StepRequest{Kind: trail.KindStep, Calls: []trail.Call{call("web_evaluate")}})
	if fault.KindOf(evaluated) != fault.PermissionDenied {
		a.Errorf("a restricted command: %v", evaluated)
	}
	for _, c := range []trail.Call{
		call("openUrl", "url", "https://other.example/"), call("openUrl", "url", "shop://orders"), call("launchApp", "appId", "com.other"),
	} {
		if _, err := s.Step(ctx, live.StepRequest{Kind: trail.KindStep, Calls: []trail.Call{c}}); fault.KindOf(err) != fault.PermissionDenied {
			a.Errorf("%s %v: %v", c.Tool, c.Args, err)
		}
	}
	_, replayed := s.RunTrail(ctx, live.TrailRequest{File: trailFile, Keep: true})
	_, saved := s.Save(ctx, live.SaveRequest{File: trailFile})
	_, edited := s.Edit(ctx, live.Edit{Drop: "1"})
	for name, err := range map[string]error{"replay": replayed, "save": saved, "edit": edited} {
		if fault.KindOf(err) != fault.Misuse {
			a.Errorf("%s: %v", name, err)
		}
	}
	s.Close(ctx) // does nothing
}

// runAssisted replays trails/a.trail.yaml of a fixture with run, and returns its events and its recording.
func (f *fixture) runAssisted(calls map[string][]trail.Call) (events []string, recording string) {
	f.Helper()
	return f.runWith((&assist{f.T, f.options, calls}).hooks)
}

// runWith does so with any assistance.
func (f *fixture) runWith(hooks func(run.Assisted)) (events []string, recording string) {
	f.Helper()
	var log eventLog
	o := f.options
	o.Stream = event.NewStream(time.Now, o.Redactor, &log)
	device := o.Device
	device.Request = scope.Request{ProjectTarget: "app", FlagDriver: "playwright-native"}
	_, err := run.Run(f.Context(), run.Options{
		Setup:   session.Setup{Project: o.Project, Cwd: f.root, Builtins: o.Builtins, Redactor: o.Redactor, Stream: o.Stream, Now: o.Now},
		Devices: []session.Device{device}, Paths: []string{trailFile},
		OpenLog: func(string, func(error)) run.SessionLog { return noLog{} }, Assist: hooks,
	})
	if err != nil {
		f.Fatal(err)
	}
	recordings, _ := filepath.Glob(filepath.Join(f.root, "logs", "a_*", "recording.trail.yaml"))
	if len(recordings) != 1 {
		f.Fatalf("recordings: %v\n%q", recordings, log.lines)
	}
	text, err := os.ReadFile(recordings[0])
	if err != nil {
		f.Fatal(err)
	}
	return log.lines, inShort(f.T, string(text))
}

type noLog struct{}

func (noLog) Handle(event.Record) {}
func (noLog) Close() error        { return nil }

func TestRunIsAssistedInItsSession(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/in.yaml", "trail:\n  - step: Inner\n    recording: { web: [ { tap: { text: Nobody } } ] }\n")
	f.write(trailFile, cleansUp+"trail:\n"+launch+
		"  - step: Sign in\n    recording: { web: [ { launchApp: {} }, { tap: { text: Nobody } }, { tap: { text: Hello } } ] }\n"+
		"  - use: in.yaml\n  - step: By hand\n  - verify: Greeted\n    recording: { web: [ { assertVisible: { text: Hello } } ] }\n")
	signIn := []trail.Call{call("tap", "text", "Sign in")}
	events, recording := f.runAssisted(map[string][]trail.Call{
		"Sign in": {call("tap", "ref", "e1")}, "Inner": signIn, "By hand": {call("launchApp", "appId", "com.shop"), call("tap", "text", "Hello")},
	})
	want := []string{
		"made launchApp", "1 passed",
		"made launchApp", "failed tap", "made tap", "made tap", "2 passed",
		"failed tap", "made tap", "3.1 passed", "3 passed",
		"made launchApp", "made tap", "4 passed",
		"made assertVisible", "5 passed",
		"made tap", "6 passed", "passed: ",
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	const recorded = "step Open: launchApp\nstep Sign in: launchApp tap(Sign in) tap(Hello)\nuse in.yaml:\n" +
		"step By hand: launchApp tap(Hello)\nverify Greeted: assertVisible(Hello)"
	if diff := cmp.Diff(recorded, strings.ReplaceAll(recording, "trails/", "")); diff != "" {
		t.Errorf("recording (-want +got):\n%s", diff)
	}
	f.wantTaps("Sign in Hello Sign in Hello Sign in")
}

func TestRunFailsWhereItIsNotAssisted(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]string{"a call that failed": breaks, "no recording": "  - step: By hand\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.write(trailFile, cleansUp+"trail:\n"+launch+step+"  - step: Never\n    recording: { web: [ { tap: { text: Hello } } ] }\n")
			events, recording := f.runAssisted(nil)
			if !slices.Contains(events, "2 failed") || slices.Contains(events, "3 passed") || !strings.HasPrefix(events[len(events)-1], "failed: ") {
				t.Errorf("%q", events)
			}
			if strings.Contains(recording, "Hello") {
				t.Errorf("recorded\n%s", recording)
			}
			f.wantTaps(wasCleaned)
		})
	}
}

// TestStepsOfTheSameTextAreTwo has two steps of the same text, of which the first one has shown what is checked.
func TestStepsOfTheSameTextAreTwo(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write(trailFile, "trail:\n"+launch+"  - step: Again\n  - step: Again\n  - verify: Greeted\n")
	var weak []live.Weakness
	f.runWith(func(in run.Assisted) {
		o := f.options
		o.Scope = in.Scope
		attached := live.Attach(t.Context(), in.Session, in.Walk, o)
		calls := []trail.Call{call("tap", "text", "Sign in"), call("tap", "text", "Hello"), call("assertVisible", "text", "Hello")}
		in.Walk.Hooks.Unrecorded = func(ctx context.Context, _ session.Step, _ *replay.Step) session.Result {
			if len(weak) == 0 {
				_, _ = attached.Snapshot(ctx, live.SnapshotOptions{})
			} else {
				f.app.set("Sign in", "Hello", "More")
			}
			r, err := attached.Step(ctx, live.StepRequest{Calls: calls[len(weak) : len(weak)+1]})
			if err != nil || !r.OK() {
				t.Errorf("%v %+v", err, r)
				return session.Failed(err)
			}
			weak = append(weak, r.Calls[0].Weak)
			return session.Passed()
		}
	})
	if diff := cmp.Diff([]live.Weakness{"", "", live.HeldBefore}, weak); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
