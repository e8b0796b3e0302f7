package live_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// givenTrail has a step of each kind: calls that save values, one that uses a trail, one without calls, and a teardown.
const givenTrail = `config:
  memory: { seen: nothing }
  teardown:
    - step: Clean
      recording: { web: [ { tap: { text: Clean } } ] }
` + givenSteps

const givenSteps = `trail:
  - step: Open
    recording:
      web:
        - launchApp: {}
        - isVisible: { text: Sign in }
          saveAs: seen
        - tap: { text: Sign in }
  - use: part.yaml
    args: { who: Hello }
  - step: Nothing
    recording: { web: [] }
  - verify: Greeted
    recording:
      web:
        - assertVisible: { text: Hello }
        - tap: { text: "Seen {{seen}}" }
`

const givenPart = "config: { args: { who: {} } }\ntrail:\n  - step: Greet\n    recording: { web: [ { tap: { text: \"{{args.who}}\" } }, { isVisible: { text: Hello } } ] }\n"

func openGiven(t *testing.T) *fixture {
	t.Helper()
	f := open(t)
	f.write("trails/part.yaml", givenPart)
	f.app.set("Sign in", "Seen true", "Clean")
	return f
}

// give replays a text from a call to another.
func (f *fixture) give(content, from, to string) live.TrailReport {
	f.Helper()
	report, err := f.RunTrail(f.Context(), live.TrailRequest{File: trailFile, Keep: true, Content: []byte(content), From: from, To: to})
	if err != nil {
		f.Fatal(err)
	}
	return report
}

// eventsOf does something, closes the session, and returns its events.
func (f *fixture) eventsOf(work func()) []event.Event {
	f.Helper()
	events, stop := f.Subscribe(f.Context(), 1000)
	defer stop()
	work()
	f.Close(context.WithoutCancel(f.Context()))
	return slices.Collect(func(yield func(event.Event) bool) {
		for e := range events {
			yield(e)
		}
	})
}

// TestRangesMakeTheCallsOfTheWhole replays a text in two parts, cut at each place, and compares the events with those of
// a replay of the whole.
func TestRangesMakeTheCallsOfTheWhole(t *testing.T) {
	t.Parallel()
	whole := openGiven(t)
	equal := cmpopts.IgnoreFields(event.CallFinished{}, "DurationMs")
	want := whole.eventsOf(func() {
		if report := whole.give(givenTrail, "", ""); !report.Passed() || report.Next != "" {
			t.Errorf("%+v", report)
		}
	})
	whole.wantTaps("Sign in Hello Seen true Clean")
	for to, next := range map[string]string{
		"1": "2", "1.1": "1.2", "1.2": "1.3", "1.3": "2", "2": "3", "3": "4.1", "4.1": "4.2", "4": "", "4.2": "",
	} {
		t.Run(to, func(t *testing.T) {
			t.Parallel()
			f := openGiven(t)
			got := f.eventsOf(func() {
				if report := f.give(givenTrail, "", to); !report.Passed() || report.Next != next {
					t.Fatalf("%+v, want next %q", report, next)
				}
				if next != "" {
					if report := f.give(givenTrail, next, ""); !report.Passed() || report.Next != "" {
						t.Fatalf("%+v", report)
					}
				}
			})
			if step, _, within := strings.Cut(next, "."); within && next != step+".1" {
				cut := slices.IndexFunc(got, func(e event.Event) bool { f, ok := e.(event.StepFinished); return ok && f.Number() == step })
				got = slices.Delete(got, cut, cut+2)
			}
			if diff := cmp.Diff(want, got, equal); diff != "" {
				t.Errorf("events (-whole +cut):\n%s", diff)
			}
		})
	}
}

func TestGivenContentIsReplayedAgainAndAgain(t *testing.T) {
	t.Parallel()
	f := openGiven(t)
	f.step("Recorded before", call("launchApp"))
	if report := f.give(givenTrail, "2", "2"); report.Passed() || report.Step != 1 || report.Call != 1 || report.Part != "trails/part.yaml" || report.Outer != 2 || report.Next != "2" {
		t.Errorf("a used trail that stops: %+v", report)
	}
	report := f.give(strings.Replace(givenTrail, "text: Sign in }\n  - use", "text: Sign up }\n  - use", 1), "", "")
	if report.Passed() || report.Step != 1 || report.Call != 3 || report.Tool != "tap" || report.Line != 13 || report.Next != "1.3" || report.Check {
		t.Errorf("%+v", report)
	}
	if report = f.give(givenTrail, report.Next, ""); !report.Passed() {
		t.Errorf("%+v", report)
	}
	f.wantTaps("Sign in Hello Seen true Clean")
	if _, err := f.RunTrail(t.Context(), live.TrailRequest{File: trailFile, Keep: true}); err == nil {
		t.Error("without a content, a file that does not exist is replayed")
	}
	f.write(trailFile, givenTrail)
	if _, err := f.RunTrail(t.Context(), live.TrailRequest{File: trailFile, Keep: true}); err == nil || !strings.Contains(err.Error(), "recorded steps") {
		t.Errorf("a given content is continued as that of the file: %v", err)
	}
}

// TestValuesOfEarlierCallsStay goes on after a call that saved a value which config.memory has, too.
func TestValuesOfEarlierCallsStay(t *testing.T) {
	t.Parallel()
	f := openGiven(t)
	f.app.set("Sign in", "Hello", "Seen true", "Seen nothing", "Seen 7")
	f.give(givenTrail, "", "1.2")
	if report := f.give(givenTrail, "4", "4"); !report.Passed() {
		t.Errorf("%+v", report)
	}
	f.give(strings.Replace(givenTrail, "memory: {", "memory: { other: 7,", 1), "1.1", "1.1")
	if report := f.give(strings.Replace(givenTrail, "{{seen}}", "{{other}}", 1), "4", "4"); !report.Passed() {
		t.Errorf("a value that was added to the text: %+v", report)
	}
	f.give(givenTrail, "", "1.1")
	f.give(givenTrail, "4.2", "4.2")
	f.wantTaps("Seen true Seen 7 Seen nothing")
}

func TestOnlyTheCallsOfARangeAreValidated(t *testing.T) {
	t.Parallel()
	f := openGiven(t)
	broken := strings.Replace(givenTrail, "assertVisible: {", "assertVisibly: {", 1)
	if report := f.give(broken, "", "3"); !report.Passed() || report.Next != "4.1" {
		t.Errorf("%+v", report)
	}
	report := f.give(broken, "2", "4.1")
	if !report.Invalid || report.Step != 4 || report.Call != 1 || report.Tool != "assertVisibly" || report.Next != "2" {
		t.Errorf("%+v", report)
	}
	f.write("trails/part.yaml", strings.Replace(givenPart, "isVisible", "isVisibly", 1))
	if report := f.give(givenTrail, "", ""); !report.Invalid || report.Step != 1 || report.Call != 2 || report.Outer != 2 {
		t.Errorf("in a used trail: %+v", report)
	}
	f.wantTaps("Sign in Hello")
}

func TestRequestsWithAGivenContentAreChecked(t *testing.T) {
	t.Parallel()
	f := openGiven(t)
	f.write("notes.txt", "private")
	for name, c := range map[string]struct {
		request live.TrailRequest
		want    string
	}{
		"without keep":    {live.TrailRequest{File: trailFile, Content: []byte(givenTrail)}, "only in the session"},
		"without content": {live.TrailRequest{File: trailFile, Keep: true, From: "2"}, "only for a given content"},
		"unknown step":    {live.TrailRequest{File: trailFile, Keep: true, Content: []byte(givenTrail), To: "5"}, "the trail has no step 5"},
		"outside":         {live.TrailRequest{File: "../a.trail.yaml", Keep: true, Content: []byte(givenTrail)}, "is not below it"},
		"no trail":        {live.TrailRequest{File: "notes.txt", Keep: true, Content: []byte(givenTrail)}, "only below trails"},
		"does not parse":  {live.TrailRequest{File: trailFile, Keep: true, Content: []byte("trail:\n  - stop: x\n")}, "trails/a.trail.yaml:2"},
		"empty":           {live.TrailRequest{File: trailFile, Keep: true, Content: []byte{}}, "trails/a.trail.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if report, err := f.RunTrail(t.Context(), c.request); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, error %v, want %q", report, err, c.want)
			}
		})
	}
}

func TestTeardownOfAGivenContentIsOwed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ranges [][2]string
		want   string // tapped before the session is closed
		closed string // and then
	}{
		"to a step":             {[][2]string{{"", "1"}}, "Sign in", "Sign in Clean"},
		"to the last step":      {[][2]string{{"", "4"}}, "Sign in Hello Seen true", "Sign in Hello Seen true Clean"},
		"to the end":            {[][2]string{{"", ""}}, "Sign in Hello Seen true Clean", "Sign in Hello Seen true Clean"},
		"to the end, in pieces": {[][2]string{{"", "1.2"}, {"1.3", "2"}, {"3", ""}}, "Sign in Hello Seen true Clean", "Sign in Hello Seen true Clean"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := openGiven(t)
			for _, limits := range c.ranges {
				if report := f.give(givenTrail, limits[0], limits[1]); !report.Passed() {
					t.Errorf("%+v", report)
				}
			}
			f.wantTaps(c.want)
			f.Close(t.Context())
			f.wantTaps(c.closed)
		})
	}
	f := openGiven(t)
	used := "trail:\n  - use: cleaned.yaml\n  - step: Open\n    recording: { web: [ { launchApp: {} } ] }\n"
	f.write("trails/cleaned.yaml", cleansUp+"trail:\n"+launch)
	f.give(used, "", "1")
	if report := f.give(used, "2", ""); !report.Passed() {
		t.Errorf("%+v", report)
	}
	f.wantTaps("Sign in") // by the teardown of the trail that was used in the range before
}

func TestStoppedReplaySaysWhereItStopped(t *testing.T) {
	t.Parallel()
	f := openGiven(t)
	hangs := strings.Replace(givenTrail, "text: Sign in }\n  - use", "text: Hang }\n  - use", 1)
	events, unsubscribe := f.Subscribe(t.Context(), 100)
	defer unsubscribe()
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for e := range events {
			if started, ok := e.(event.CallStarted); ok && started.Call == "3" {
				stop()
			}
		}
	}()
	report, err := f.RunTrail(ctx, live.TrailRequest{File: trailFile, Keep: true, Content: []byte(hangs)})
	if err != nil || report.Outcome != event.Error || report.Next != "1.3" || report.Call != 3 || report.Reason != "interrupted" {
		t.Errorf("%+v, %v", report, err)
	}
	if f.Err() != nil {
		t.Error(f.Err())
	}
	if report := f.give(givenTrail, report.Next, ""); !report.Passed() {
		t.Errorf("%+v", report)
	}
	f.wantTaps("Sign in Hello Seen true Clean")
	report, err = f.RunTrail(ended(), live.TrailRequest{File: trailFile, Keep: true, Content: []byte(givenTrail), From: "2"})
	if err == nil && (report.Outcome != event.Error || report.Next != "2") { // or it waited for an earlier request
		t.Errorf("%+v", report)
	}
	f.wantTaps("Sign in Hello Seen true Clean")
}

// TestStoppedReplayMakesNoFurtherCall stops a replay during a call that passes nevertheless.
func TestStoppedReplayMakesNoFurtherCall(t *testing.T) {
	t.Parallel()
	f := openGiven(t)
	f.app.waits = make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	calls := 0
	for _, e := range f.eventsOf(func() {
		events, unsubscribe := f.Subscribe(t.Context(), 100)
		defer unsubscribe()
		go func() {
			for e := range events {
				if e.Type() == "call.started" {
					stop()
					return
				}
			}
		}()
		report, err := f.RunTrail(ctx, live.TrailRequest{File: trailFile, Keep: true, Content: []byte(givenSteps)})
		if err != nil || report.Outcome != event.Error || report.Step != 1 || report.Next != "1.2" {
			t.Errorf("%+v, %v", report, err)
		}
	}) {
		if e.Type() == "call.started" {
			calls++
		}
	}
	if calls != 1 {
		t.Errorf("%d calls were made", calls)
	}
}

// TestStopWithinATrailThatIsUsed makes a call of the outer trail after a replay stopped in the trail that it uses.
func TestStopWithinATrailThatIsUsed(t *testing.T) {
	t.Parallel()
	f := openGiven(t)
	if report := f.give("config: { args: { who: { default: Clean } } }\n"+givenSteps, "2", ""); report.Passed() || report.Next != "2" {
		t.Errorf("%+v", report)
	}
	f.request(live.StepRequest{Unrecorded: true, Kind: "step", Calls: []trail.Call{call("tap", "text", "{{args.who}}")}})
	f.wantTaps("Clean")
}
