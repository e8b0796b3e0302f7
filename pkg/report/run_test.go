package report

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// playAgent emits the events of the session of an agent, which has no trail, up to a call that is running.
func playAgent(c *clock, handlers ...event.Handler) {
	e := event.NewStream(c.now, nothingSecret(), handlers...).Session("agent_1", "", nil)
	e.Emit(event.ServerStarted{Server: "./tools/shop.ts", Tools: 4})
	e.Emit(event.CallStarted{Call: "1", Tool: "open"})
	e.Emit(event.CallFinished{Call: "1", Tool: "open", OK: true, Text: "opened"})
	e.Emit(event.StepStarted{Index: 1, Of: 1, Text: "Pay", Kind: "step"})
	e.Emit(event.CallStarted{Call: "2", Tool: "pay"})
	e.Emit(event.CallStarted{Call: "2.1", Tool: "look"})
	e.Emit(event.CallFinished{Call: "2.1", Tool: "look", Error: "no", Notes: []string{"a note"}})
	e.Emit(event.Evidence{File: "calls/2.png", Step: 1, Call: "2"})
	e.Emit(event.DeviceNoted{Kind: "dialog", Text: "Sure?"})
	c.pass(time.Second)
	e.Emit(event.CallStarted{Call: "3", Tool: "wait"})
}

func TestRunOfSessionThatGoesOn(t *testing.T) {
	t.Parallel()
	r := NewRun("logs")
	playAgent(newClock(), event.HandlerFunc(func(record event.Record) { r.Fold(record) }))
	if len(r.Cases) != 1 || len(r.Running) != 0 {
		t.Fatalf("%d cases, of which %d trails run", len(r.Cases), len(r.Running))
	}
	c := r.Cases[0]
	var got []string
	for _, s := range c.Steps {
		eachCall(s.Calls, func(call *Call) {
			got = append(got, fmt.Sprint(s.Index, " ", s.Text, ": ", call.Call, " ", call.Tool, " ", call.Done != nil, " ", call.Result.Text, len(call.Files)))
		})
	}
	want := []string{"0 : 1 open true opened0", "1 Pay: 2 pay false 1", "1 Pay: 2.1 look true no0", "1 Pay: 3 wait false 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if c.Dir != filepath.Join("logs", "agent_1") || c.Call.Tool != "wait" || c.To.Sub(c.From) != time.Second || !c.Since.Equal(c.To) || c.Failed != nil {
		t.Errorf("%+v", c)
	}
	if len(c.Notes) != 1 || c.Notes[0].Step != c.Steps[1] || len(c.Log) != 1 || !c.Log[0].Incident {
		t.Errorf("notes %v, log %v", c.Notes, c.Log)
	}
}

// TestRunOfSessionFolderEqualsThatOfStream compares what a run says at each event with what its log on the disk says.
func TestRunOfSessionFolderEqualsThatOfStream(t *testing.T) {
	t.Parallel()
	logs := t.TempDir()
	dir := filepath.Join(logs, "agent_1")
	live := NewRun(logs)
	var lines []byte
	playAgent(newClock(), event.HandlerFunc(func(record event.Record) {
		live.Fold(record)
		lines = append(lines, recordLine(record, MaxLine)...)
		writeFile(t, filepath.Join(dir, EventsFile), lines)
		stored := NewRun("")
		if err := stored.AddSession(dir); err != nil {
			t.Fatal(err)
		}
		opts := cmp.Options{cmpopts.IgnoreUnexported(Run{}, Case{}, Call{}), cmpopts.EquateEmpty()}
		if diff := cmp.Diff(live, stored, opts); diff != "" {
			t.Errorf("after %s (-stream +folder):\n%s", record.Event.Type(), diff)
		}
	}))
}

func TestStreamedRunForgetsWhatEnded(t *testing.T) {
	t.Parallel()
	r := newStreamedRun()
	s := event.NewStream(newClock().now, nothingSecret(), event.HandlerFunc(func(record event.Record) { r.Fold(record) }))
	for attempt := range 3 {
		e := s.Session(fmt.Sprint("s", attempt), "a", nil)
		e.Emit(event.TrailStarted{File: "a"})
		for i := range 100 {
			e.Emit(event.StepStarted{Index: i, Of: 100})
			e.Emit(event.CallStarted{Call: fmt.Sprint(i), Args: map[string]any{"x": "y"}})
			e.Emit(event.CallStarted{Call: fmt.Sprint(i, ".1")})
			e.Emit(event.CallProgress{Call: fmt.Sprint(i), Message: "m"})
			e.Emit(event.Evidence{File: "x", Call: fmt.Sprint(i)})
			e.Log("info", "x", "line", "")
			if c := r.Running[0]; len(r.Running) != 1 || len(c.Steps) != 1 || len(c.Steps[0].Calls) != 0 || c.Call.Tool != "" || len(c.Call.Progress) != 1 {
				t.Fatalf("%+v", r.Running)
			}
			e.Emit(event.CallFinished{Call: fmt.Sprint(i), OK: true})
		}
		if c := r.Running[0]; len(r.open) != 1 || len(c.callsByID) != 0 || len(c.Log)+len(c.Files)+c.files != 0 || c.Call != nil {
			t.Errorf("attempt %d: %d sessions, %+v", attempt, len(r.open), c)
		}
		if attempt == 2 {
			e.Emit(event.TrailFinished{File: "a", Outcome: event.Passed, Attempts: 3})
			e.Log("warn", "x", "after the end", "")
		}
	}
	s.Emit(event.Log{Message: "after the run"})
	if len(r.open)+len(r.Running)+len(r.Cases)+len(r.Log) != 0 || r.Finished.Passed != 1 {
		t.Errorf("%+v", r)
	}
}
