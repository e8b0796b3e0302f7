package event_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 123000000, time.UTC) }

// record sends one event through a stream.
func record(secrets map[string]string, session, trail string, e event.Event) event.Record {
	var got event.Record
	s := event.NewStream(noon, redact.New(secrets), event.HandlerFunc(func(r event.Record) { got = r }))
	if session == "" && trail == "" {
		s.Emit(e)
	} else {
		s.Session(session, trail, nil).Emit(e)
	}
	return got
}

func everyEvent() []event.Event {
	return []event.Event{
		event.RunStarted{Trails: 2, Workers: 4, DryRun: true, Shard: "1/3", Plan: "0f", Root: "/project", Dir: "/project/trails"},
		event.TrailStarted{File: "a.trail.yaml", Title: "A", Target: "app", Driver: "ios-host", Agent: "host", Steps: 3},
		event.ServerStarted{Server: "tools", Tools: 4, DurationMs: 20},
		event.StepStarted{Index: 1, Of: 3, Text: "Log in", Kind: "step"},
		event.CallStarted{Call: "c1", Tool: "login", Source: "server tools", Args: map[string]any{"user": "<Ada & co>"}},
		event.CallProgress{Call: "c1", Tool: "tools", Message: "half"},
		event.CallFinished{Call: "c1", Tool: "login", OK: false, Text: "", Error: "no", Kind: fault.ToolFailed, DurationMs: 5},
		event.StepFinished{Index: 1, Outcome: event.Failed},
		event.Evidence{File: "failure/screen.png", Title: "the page", Step: 1, Call: "c1"},
		event.DeviceNoted{Kind: "dialog", Text: "alert \"Saved\", dismissed"},
		event.TrailFinished{
			File: "a.trail.yaml", Title: "A", Outcome: event.Failed, Reason: "no", Hint: "try", Step: 1, StepText: "Log in", Tool: "login", Line: 7, Snippet: "> 7 | - login",
			DurationMs: 30, Attempts: 1, Artifacts: []string{"logs/x/events.ndjson"},
		},
		event.RunFinished{Failed: 1, Skipped: 1, ExitCode: 1, DurationMs: 40, NotRun: []event.NotRun{{File: "b.trail.yaml", Title: "b", Device: "web:a"}}},
		event.Log{Level: "info", Source: "tools", Message: "half"},
		event.TaskStarted{Step: "3.1", Kind: "verify", Model: "anthropic/claude-sonnet", MaxRequests: 12},
		event.LLMFinished{
			N: 2, Task: "3.1", Status: "calls", Tokens: 2100, CachedTokens: 1800, OutputTokens: 60, Estimated: true, Cost: new(0.012),
			DurationMs: 900, Attempts: 1, File: "llm/002.json",
		},
		event.TaskFinished{Step: "3.1", Outcome: event.Passed, Warnings: []string{"the check held before, too"}},
		event.HealProposed{Step: "3", Call: 2, Tool: "web_click", Class: "renamed", Why: "it has another name", Proof: "passed", File: "heal.patch"},
	}
}

func TestRecordIsFlatObject(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"run.started":    `"trails":2,"workers":4,"dryRun":true,"shard":"1/3","plan":"0f","root":"/project","dir":"/project/trails"`,
		"trail.started":  `"file":"a.trail.yaml","title":"A","target":"app","driver":"ios-host","agent":"host"`,
		"server.started": `"server":"tools","tools":4,"durationMs":20`,
		"step.started":   `"index":1,"of":3,"text":"Log in","kind":"step"`,
		"call.started":   `"call":"c1","tool":"login","source":"server tools","args":{"user":"<Ada & co>"}`,
		"call.finished":  `"call":"c1","tool":"login","ok":false,"text":"","error":"no","kind":"tool failed","durationMs":5`,
		"step.finished":  `"index":1,"outcome":"failed"`,
		"evidence":       `"file":"failure/screen.png","title":"the page","step":1,"call":"c1"`,
		"device.noted":   `"kind":"dialog","text":"alert \"Saved\", dismissed"`,
		"trail.finished": `"file":"a.trail.yaml","title":"A","outcome":"failed","flaky":false,"reason":"a.trail.yaml:7: no\nhint: try","hint":"try",` +
			`"step":1,"stepText":"Log in","tool":"login","line":7,"snippet":"> 7 | - login","durationMs":30,"attempts":1,"artifacts":["logs/x/events.ndjson"]`,
		"run.finished": `"passed":0,"failed":1,"errors":0,"skipped":1,"flaky":0,"exitCode":1,"durationMs":40,"notRun":[{"file":"b.trail.yaml","title":"b","device":"web:a"}]`,
		"log":          `"level":"info","source":"tools","message":"half"`,
		"task.started": `"step":"3.1","kind":"verify","model":"anthropic/claude-sonnet","maxRequests":12`,
		"llm.finished": `"n":2,"task":"3.1","status":"calls","tokens":2100,"cachedTokens":1800,"outputTokens":60,"estimated":true,"cost":0.012,` +
			`"durationMs":900,"attempts":1,"file":"llm/002.json"`,
		"task.finished": `"step":"3.1","outcome":"passed","warnings":["the check held before, too"]`,
		"heal.proposed": `"step":"3","call":2,"tool":"web_click","class":"renamed","why":"it has another name","guard":"","proof":"passed","file":"heal.patch"`,
	}
	for _, e := range everyEvent() {
		for session, place := range map[string]string{"": "", "s1": `"session":"s1","trail":"a.trail.yaml",`} {
			trail := ""
			if session != "" {
				trail = "a.trail.yaml"
			}
			own := want[e.Type()]
			if p, ok := e.(event.CallProgress); ok {
				own += fmt.Sprintf(`,"call":%q`, p.Call) // a log record with the id of its call
			}
			b, err := record(nil, session, trail, e).MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fmt.Sprintf(`{"v":1,"type":%q,"time":"2026-11-20T12:00:00.123Z","seq":1,%s%s}`, e.Type(), place, own), string(b)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", e.Type(), diff)
			}
		}
	}
}

func TestNothingIsEncodedAsNull(t *testing.T) {
	t.Parallel()
	for _, secrets := range []map[string]string{nil, {"S": "secret"}} {
		for _, e := range everyEvent() {
			zero, ok := reflect.TypeAssert[event.Event](reflect.Zero(reflect.TypeOf(e)))
			if !ok {
				t.Fatalf("%T is not an event", e)
			}
			b, err := json.Marshal(record(secrets, "", "", zero))
			if err != nil || strings.Contains(string(b), "null") {
				t.Errorf("%s, %v", b, err)
			}
		}
	}
}

// withSecret returns a list with the secret in its second item.
func withSecret(list reflect.Type) reflect.Value {
	if list.Elem().Kind() == reflect.String {
		return reflect.ValueOf([]string{"x", "hunter2"})
	}
	v := reflect.MakeSlice(list, 2, 2)
	for i := range list.Elem().NumField() {
		if f := v.Index(1).Field(i); f.Type() == reflect.TypeFor[string]() {
			f.SetString("a hunter2 b")
		}
	}
	return v
}

// TestRedactsEveryString puts the secret into every string of every event.
func TestRedactsEveryString(t *testing.T) {
	t.Parallel()
	enumerated := map[string]bool{"Driver": true, "Agent": true, "Call": true, "Kind": true, "Outcome": true, "Level": true, "Shard": true, "Plan": true, "Within": true, "Step": true, "Task": true, "Status": true}
	for _, e := range everyEvent() {
		full := reflect.New(reflect.TypeOf(e)).Elem()
		for i := range full.NumField() {
			if enumerated[full.Type().Field(i).Name] {
				continue
			}
			switch field := full.Field(i); field.Kind() {
			case reflect.String:
				field.SetString("a hunter2 b")
			case reflect.Slice:
				field.Set(withSecret(field.Type()))
			case reflect.Map:
				field.Set(reflect.ValueOf(map[string]any{"hunter2": []any{"hunter2"}}))
			}
		}
		before := fmt.Sprintf("%v", full.Interface())
		ev, ok := reflect.TypeAssert[event.Event](full)
		if !ok {
			t.Fatalf("%T is not an event", e)
		}
		b, err := json.Marshal(record(map[string]string{"S": "hunter2"}, "session hunter2", "trail hunter2", ev))
		if err != nil || strings.Contains(string(b), "hunter2") {
			t.Errorf("%s, %v", b, err)
		}
		if after := fmt.Sprintf("%v", full.Interface()); after != before {
			t.Errorf("the emitted event was modified: %s, want %s", after, before)
		}
	}
}

func TestRecordsAreNumberedAndHandledInOrder(t *testing.T) {
	t.Parallel()
	const goroutines, each = 8, 200
	var all, own []int64
	collect := func(to *[]int64) event.Handler {
		return event.HandlerFunc(func(r event.Record) { *to = append(*to, r.Seq) })
	}
	s := event.NewStream(noon, redact.New(nil), collect(&all))
	session := s.Session("s", "t", collect(&own))
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			for range each {
				if i%2 == 0 {
					s.Emit(event.RunStarted{})
				} else {
					session.Log("info", "", "", "")
				}
			}
		})
	}
	wg.Wait()
	if len(all) != goroutines*each || len(own) != goroutines*each/2 {
		t.Fatalf("%d and %d records, want %d and half as many", len(all), len(own), goroutines*each)
	}
	for i, seq := range all {
		if seq != int64(i+1) {
			t.Fatalf("record %d has number %d", i+1, seq)
		}
	}
	for i := range own[1:] {
		if own[i] >= own[i+1] {
			t.Fatalf("the session's records %d and %d are out of order", own[i], own[i+1])
		}
	}
}

func TestEncodingErrors(t *testing.T) {
	t.Parallel()
	_, err := json.Marshal(record(nil, "", "", event.CallStarted{Args: map[string]any{"f": func() {}}}))
	if err == nil {
		t.Error("a function was encoded")
	}
}

func TestBufferedEventsAreForwardedInOrder(t *testing.T) {
	t.Parallel()
	var got []string
	s := event.NewStream(time.Now, redact.New(nil), event.HandlerFunc(func(r event.Record) {
		got = append(got, r.Session+" "+r.Event.(event.Log).Message)
	}))
	buffer, dropped, to := event.NewBuffer(), event.NewBuffer(), s.Session("s", "t", nil)
	buffer.Log("info", "x", "first", "")
	dropped.Log("info", "x", "never", "")
	to.Log("info", "x", "before", "")
	buffer.ForwardTo(to)
	buffer.Log("info", "x", "last", "")
	if diff := cmp.Diff([]string{"s before", "s first", "s last"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
