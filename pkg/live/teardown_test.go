package live_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

const (
	launch     = "  - step: Open\n    recording: { web: [ { launchApp: {} } ] }\n"
	breaks     = "  - step: Break\n    recording: { web: [ { tap: { text: Nobody } } ] }\n"
	cleansUp   = "config: { teardown: [ { step: Clean, recording: { web: [ { tap: { text: Sign in } } ] } } ] }\n"
	trailFile  = "trails/a.trail.yaml"
	wasCleaned = "Sign in"
)

// replayKept replays the trail in the session.
func (f *fixture) replayKept() live.TrailReport {
	f.Helper()
	report, err := f.RunTrail(f.Context(), live.TrailRequest{File: trailFile, Keep: true})
	if err != nil {
		f.Fatal(err)
	}
	return report
}

func (f *fixture) wantTaps(want string) {
	f.Helper()
	if got := f.app.taps(); got != want {
		f.Errorf("tapped %q, want %q", got, want)
	}
}

func TestTeardownRunsOnceAfterTheLastStep(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write(trailFile, cleansUp+"trail:\n"+launch)
	if report := f.replayKept(); !report.Passed() {
		t.Errorf("%+v", report)
	}
	f.wantTaps(wasCleaned)
	f.Close(t.Context())
	f.wantTaps(wasCleaned)
}

func TestFailureOfATeardownIsReported(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write(trailFile, strings.Replace(cleansUp, "Sign in", "Nobody", 1)+"trail:\n"+launch)
	report := f.replayKept()
	if report.Outcome != event.Failed || report.Step != 2 || report.Kind != trail.KindTeardown || report.Tool != "tap" ||
		!strings.Contains(report.Reason, "the teardown did not pass: ") {
		t.Errorf("%+v", report)
	}
}

func TestTeardownWaitsForTheRepair(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write(trailFile, cleansUp+"trail:\n"+launch+breaks)
	if report := f.replayKept(); report.Passed() {
		t.Errorf("%+v", report)
	}
	f.wantTaps("")
	f.step("Break", call("launchApp"))
	f.wantTaps("")
	if report := f.replayKept(); !report.Passed() || !report.Repaired { // no call is left, but the teardown
		t.Errorf("%+v", report)
	}
	f.wantTaps(wasCleaned)
}

func TestTeardownIsNotForgottenWhenTheStepsAreDropped(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write(trailFile, cleansUp+"trail:\n"+breaks)
	f.write("trails/b.trail.yaml", "trail:\n"+launch)
	f.replayKept()
	if _, err := f.Edit(t.Context(), live.Edit{Drop: "1"}); err != nil {
		t.Fatal(err)
	}
	_, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/b.trail.yaml", Keep: true})
	if err == nil || !strings.Contains(err.Error(), "the teardown of trails/a.trail.yaml has not run") {
		t.Errorf("error %v", err)
	}
	f.Close(t.Context())
	f.wantTaps(wasCleaned)
}

func TestTeardownRunsWhenTheSessionIsClosed(t *testing.T) {
	t.Parallel()
	for name, closing := range map[string]func(f *fixture, interrupt context.CancelFunc){
		"by its caller":       func(f *fixture, _ context.CancelFunc) { f.Close(f.Context()) },
		"after a signal":      func(f *fixture, interrupt context.CancelFunc) { interrupt(); f.Close(f.Context()) },
		"in an ended context": func(f *fixture, interrupt context.CancelFunc) { interrupt(); f.Close(ended()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			f := openIn(ctx, t)
			f.write("trails/in.yaml", "config: { args: { who: {} }, teardown: [ { step: Leave, recording: { web: [ { tap: { text: \"{{args.who}}\" } } ] } } ] }\ntrail:\n"+breaks)
			f.write(trailFile, cleansUp+"trail:\n  - use: in.yaml\n    args: { who: Hello }\n")
			if report := f.replayKept(); report.Part != "trails/in.yaml" {
				t.Fatalf("%+v", report)
			}
			f.wantTaps("")
			closing(f, interrupt)
			f.wantTaps("Sign in Hello") // the first shows the second
			if _, err := f.Step(t.Context(), live.StepRequest{Text: "x", Kind: trail.KindStep, Calls: []trail.Call{call("launchApp")}}); err == nil {
				t.Error("a call was made after the session had ended")
			}
			interrupt()
		})
	}
}

func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestSessionWithoutTeardownEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	f := openIn(ctx, t)
	interrupt()
	<-f.Done()
	if f.Err() == nil {
		t.Error("the session can be used")
	}
}

func TestTeardownIsBoundedWhenTheSessionIsClosed(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *live.Options) { o.TeardownLimit = 10 * time.Millisecond })
	f.write(trailFile, strings.Replace(cleansUp, "Sign in", "Hang", 1)+"trail:\n"+breaks)
	f.replayKept()
	f.Close(t.Context()) // returns
}

func TestSkippedTrailIsNotReplayed(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write(trailFile, "config: { skip: { web: too slow } }\ntrail:\n  - step: Tap\n    recording: { web: [ { tap: { text: Sign in } } ] }\n")
	if report := f.replayKept(); report.Outcome != event.Skipped || report.Reason != "too slow" {
		t.Errorf("%+v", report)
	}
	f.wantTaps("")
	f.step("Open", call("launchApp")) // the session is as it was
	if got := f.recording(); got != "step Open: launchApp" {
		t.Errorf("recorded %q", got)
	}
}

func TestNoCallIsMadeOfATrailWithInvalidCalls(t *testing.T) {
	t.Parallel()
	f := open(t)
	const valid = "trail:\n  - step: Tap\n    recording: { web: [ { tap: { text: Sign in } }, { tap: { text: Hello } } ] }\n"
	f.write(trailFile, strings.Replace(strings.Replace(valid, "Sign in", "[]", 1), "tap: { text: Hello", "tpa: { text: Hello", 1))
	report := f.replayKept()
	if !report.Invalid || report.Outcome != event.Failed || report.Step != 1 || report.Line != 3 || report.Tool != "tap" ||
		!strings.Contains(report.Reason, "text must be text") || !strings.Contains(report.Reason, `did you mean "tap"?`) {
		t.Errorf("%+v", report)
	}
	f.wantTaps("")
	f.write(trailFile, valid)
	if report := f.replayKept(); !report.Passed() {
		t.Errorf("after it was corrected: %+v", report)
	}
}

func TestTrailForAnotherTargetIsNotReplayed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		target string
		chosen bool
		want   string
	}{
		"the same":               {"shop", false, ""},
		"an app id of it":        {"com.shop", false, ""},
		"another":                {"office", false, `the trail is for target "office", and the session for "shop"`},
		"another, but chosen":    {"office", true, ""},
		"unknown":                {"shoop", false, `unknown target "shoop"`},
		"unknown, but chosen":    {"shoop", true, ""},
		"none":                   {"\"\"", false, ""},
		"an app id of no target": {"com.other", false, `unknown target "com.other"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, func(o *live.Options) {
				o.Project.Targets = []config.Target{{ID: "shop"}, {ID: "office"}}
				o.Project.Targets[0].PlatformOrder = []scope.Platform{scope.Web}
				o.Project.Targets[0].Platforms = map[scope.Platform]config.PlatformConfig{scope.Web: {AppIDs: []string{"com.shop"}}}
				o.Scope.Target = scope.Target{ID: "shop", AppIDs: map[scope.Platform][]string{scope.Web: {"com.shop"}}}
				o.TargetChosen = tc.chosen
			})
			f.write(trailFile, "config: { target: "+tc.target+" }\ntrail:\n"+launch)
			_, err := f.RunTrail(t.Context(), live.TrailRequest{File: trailFile, Keep: true})
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

const waitsAndCleansUp = "config: { teardown: [ { step: Wait, recording: { web: [ { launchApp: {} } ] } }, " +
	"{ step: Clean, recording: { web: [ { tap: { text: Sign in } } ] } } ] }\n" +
	"trail:\n  - step: See\n    recording: { web: [ { assertVisible: { text: Sign in } } ] }\n"

// whenTeardownWaits calls do when the first call of the teardown waits for the app.
func (f *fixture) whenTeardownWaits(do func()) {
	events, stop := f.Subscribe(f.Context(), 100)
	go func() {
		defer stop()
		for e := range events {
			if call, began := e.(event.CallStarted); began && call.Tool == "launchApp" {
				do()
				return
			}
		}
	}()
}

// A teardown that its request could not run to the end runs when the session ends.
func TestTeardownOfACancelledRequestRunsAtTheEnd(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.app.waits = make(chan struct{})
	f.write(trailFile, waitsAndCleansUp)
	ctx, cancel := context.WithCancel(t.Context())
	f.whenTeardownWaits(cancel)
	_, _ = f.RunTrail(ctx, live.TrailRequest{File: trailFile, Keep: true}) // it was cancelled
	f.wantTaps("")
	close(f.app.waits)
	f.Close(t.Context())
	f.wantTaps(wasCleaned)
}

// The end of the context of a session does not end the teardown that runs.
func TestTeardownThatRunsIsNotInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	f := openIn(ctx, t)
	f.app.waits = make(chan struct{})
	f.write(trailFile, waitsAndCleansUp)
	f.whenTeardownWaits(func() {
		interrupt()
		close(f.app.waits)
	})
	_, _ = f.RunTrail(t.Context(), live.TrailRequest{File: trailFile, Keep: true})
	f.Close(t.Context())
	f.wantTaps(wasCleaned)
}
