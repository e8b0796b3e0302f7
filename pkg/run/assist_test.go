package run_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

const (
	recordedAct = "  - step: recorded\n    recording: { web: [ { act: {} } ] }\n"
	byHand      = "  - step: by hand\n"
)

// assisting carries out tasks with the tool act, and counts them.
type assisting struct {
	tasks             atomic.Int32
	fails             bool
	replays, sessions []string
}

func (a *assisting) assist(in run.Assisted) {
	a.replays, a.sessions = append(a.replays, in.Replay), append(a.sessions, filepath.Base(in.Dir))
	in.Walk.Hooks.Unrecorded = func(ctx context.Context, _ session.Step, _ *replay.Step) session.Result {
		a.tasks.Add(1)
		in.Use.AddRequest(event.LLMFinished{Tokens: 100})
		if a.fails {
			return session.Failed(fault.New(fault.ToolFailed, "", "nobody knows how"))
		}
		return in.Session.Call(ctx, trail.Call{Tool: "act"}).Result
	}
}

// acting has a tool that fails after so many calls; less than 0 for never.
func acting(works int32) map[string]map[string]fake {
	var made atomic.Int32
	return map[string]map[string]fake{"s": {"act": func(toolCall) (any, error) {
		if made.Add(1); works >= 0 && made.Load() > works {
			return nil, errors.New("it does not work any more")
		}
		return "done", nil
	}}}
}

// ended runs the one trail of o and returns how it ended.
func (r *records) ended(t *testing.T, o run.Options) (ended event.TrailFinished) {
	t.Helper()
	if _, err := run.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, record := range r.events {
		if e, ok := record.Event.(event.TrailFinished); ok {
			ended = e
		}
	}
	return ended
}

func TestOnlyStepsWithoutRecordingAreAssisted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		trail   string
		edit    func(*run.Options)
		outcome event.Outcome
		tasks   int32
		mode    event.Mode
	}{
		"all are recorded":        {"trail:\n" + recordedAct, nil, event.Passed, 0, event.Recorded},
		"one is not":              {"trail:\n" + recordedAct + byHand, nil, event.Passed, 1, event.Assisted},
		"a verify is not":         {"trail:\n  - verify: by hand\n", nil, event.Passed, 1, event.Assisted},
		"one is never recorded":   {"trail:\n  - step: x\n    recordable: false\n", nil, event.Passed, 1, event.Assisted},
		"nothing to do":           {"trail:\n  - step: x\n    recording: { web: [] }\n", nil, event.Passed, 0, event.Recorded},
		"the trailhead is not":    {"trailhead: { step: x }\ntrail:\n" + byHand, nil, event.Failed, 0, ""},
		"a teardown is not":       {"config: { teardown: [ { step: x } ] }\ntrail:\n" + byHand, nil, event.Failed, 0, ""},
		"recordings are ignored":  {"trail:\n  - step: x\n    recording: { web: [] }\n" + recordedAct, ignore, event.Passed, 1, event.Assisted},
		"but not of the teardown": {"config: { teardown: [ { step: x, recording: { web: [ { act: {} } ] } } ] }\ntrail:\n" + recordedAct, ignore, event.Passed, 1, event.Assisted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a assisting
			var seen records
			o := options(t, &seen, tt.trail, "s")
			if o.Launch, o.Assist = serving(acting(-1)), a.assist; tt.edit != nil {
				tt.edit(&o)
			}
			ended := seen.ended(t, o)
			var mode event.Mode
			if ended.ModelUse != nil {
				mode = ended.Mode
			}
			if ended.Outcome != tt.outcome || a.tasks.Load() != tt.tasks || mode != tt.mode {
				t.Errorf("%s with %d tasks, mode %q: %s", ended.Outcome, a.tasks.Load(), mode, ended.Reason)
			}
		})
	}
}

func ignore(o *run.Options) { o.IgnoreRecordings = true }

func TestWhatIsSaidOfAStepThatNobodyCarriesOut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		trail       string
		llm, skip   bool // what the hint has
		alreadyAsks bool
	}{
		"a step":                    {"trail:\n" + byHand, true, true, false},
		"a trailhead":               {"trailhead: { step: x }\ntrail:\n" + recordedAct, false, true, false},
		"a teardown":                {"config: { teardown: [ { step: x } ] }\ntrail:\n" + recordedAct, false, true, false},
		"a trailhead, with a model": {"trailhead: { step: x }\ntrail:\n" + byHand, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a assisting
			var seen records
			o := options(t, &seen, tt.trail, "s")
			if o.Launch = serving(acting(-1)); tt.alreadyAsks {
				o.Assist = a.assist
			}
			ended := seen.ended(t, o)
			if llm, skip := strings.Contains(ended.Hint, "--unrecorded llm"), strings.Contains(ended.Hint, "--unrecorded skip"); llm != tt.llm || skip != tt.skip {
				t.Errorf("%s: %s", ended.Reason, ended.Hint)
			}
		})
	}
}

func TestProofAsksOnlyForStepsThatAreNeverRecorded(t *testing.T) {
	t.Parallel()
	const never = "  - step: x\n    recordable: false\n"
	for name, tt := range map[string]struct {
		trail   string
		outcome event.Outcome
		tasks   int32
	}{
		"never recorded": {recordedAct + never, event.Passed, 1},
		"not recorded":   {recordedAct + byHand, event.Failed, 0},
		"one of each":    {never + byHand, event.Failed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a assisting
			var seen records
			o := options(t, &seen, "trail:\n"+tt.trail, "s")
			o.Launch, o.Assist, o.Proof = serving(acting(-1)), a.assist, true
			ended := seen.ended(t, o)
			if ended.Outcome != tt.outcome || a.tasks.Load() != tt.tasks || strings.Contains(ended.Hint, "llm") {
				t.Errorf("%s with %d tasks: %s (%s)", ended.Outcome, a.tasks.Load(), ended.Reason, ended.Hint)
			}
		})
	}
}

func TestAttemptsAndProofAreOfOneReplay(t *testing.T) {
	t.Parallel()
	a := assisting{}
	var seen records
	o := options(t, &seen, "trail:\n  - step: x\n    recordable: false\n"+byHand+recordedAct, "s")
	var made atomic.Int32
	o.Launch = serving(map[string]map[string]fake{"s": {"act": func(toolCall) (any, error) {
		if made.Add(1) == 3 { // the recorded call of the first attempt
			return nil, errors.New("no")
		}
		return "done", nil
	}}})
	o.Assist, o.Retries, o.Record = a.assist, 1, "new.trail.yaml"
	if ended := seen.ended(t, o); ended.Outcome != event.Passed || len(a.replays) != 3 || a.replays[0] != a.replays[1] || a.replays[0] != a.replays[2] {
		t.Errorf("%s: %s: %q", ended.Outcome, ended.Reason, a.replays)
	}
	sessions, _ := filepath.Glob(filepath.Join(o.Project.LogsDir, "*_*"))
	slices.Sort(sessions)
	latest, err := os.Readlink(filepath.Join(o.Project.LogsDir, "latest"))
	if err != nil || len(sessions) != 3 || latest != a.sessions[1] {
		t.Errorf("the latest of %q is %q: %v", sessions, latest, err)
	}
}

func TestRetriesAreForRecordedCalls(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fails    bool
		attempts int
	}{
		"a task failed":          {true, 1},
		"a recorded call failed": {false, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := assisting{fails: tt.fails}
			var seen records
			o := options(t, &seen, "trail:\n"+byHand+recordedAct, "s")
			var made atomic.Int32
			tools := map[string]map[string]fake{"s": {"act": func(toolCall) (any, error) {
				if made.Add(1)%2 == 0 { // the recorded call of an attempt
					return nil, errors.New("no")
				}
				return "done", nil
			}}}
			o.Launch, o.Assist, o.Retries = serving(tools), a.assist, 2
			ended := seen.ended(t, o)
			if ended.Outcome != event.Failed || ended.Attempts != tt.attempts || int(a.tasks.Load()) != tt.attempts || ended.Tokens != 100*tt.attempts {
				t.Errorf("%s after %d attempts with %d tasks, %+v", ended.Outcome, ended.Attempts, a.tasks.Load(), ended.ModelUse)
			}
		})
	}
}

func TestRecordingOfAModelIsProven(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		works   int32
		outcome event.Outcome
		want    string
	}{
		"it is replayed":     {-1, event.Passed, "act"},
		"it does not replay": {3, event.Failed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a assisting
			var seen records
			o := options(t, &seen, "trail:\n"+recordedAct+byHand, "s")
			o.Launch, o.Assist, o.Record = serving(acting(tt.works)), a.assist, "new.trail.yaml"
			resets := 0
			o.Reset = func(context.Context) error { resets++; return nil }
			ended := seen.ended(t, o)
			text, _ := os.ReadFile(filepath.Join(o.Cwd, "new.trail.yaml"))
			if ended.Outcome != tt.outcome || (tt.want == "") != (len(text) == 0) || strings.Count(string(text), "act: {}") != 2*strings.Count(tt.want, "act") {
				t.Errorf("%s: %s\n%s", ended.Outcome, ended.Reason, text)
			}
			if tt.outcome == event.Failed && !strings.Contains(ended.Reason, "replayed in a fresh session") {
				t.Errorf("reason: %s", ended.Reason)
			}
			if a.tasks.Load() != 1 || resets != 1 || ended.Requests != 1 {
				t.Errorf("%d tasks, %d resets, %+v", a.tasks.Load(), resets, ended.ModelUse)
			}
		})
	}
}
