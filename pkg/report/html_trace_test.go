package report

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/event"
)

func TestPageShowsTrace(t *testing.T) {
	t.Parallel()
	trace := event.Trace{RemovedPictures: 1, RemovedCalls: 2, Calls: []event.TracedCall{
		{Call: "1", Before: "0.jpg", After: "1.jpg", URL: "http://shop/", Requests: []string{"GET http://shop/a 200"}, Console: []string{"log: <b>"}, Omitted: 3},
		{Call: "2", Before: "1.jpg", After: "1.jpg", Tree: "screen-2.txt"},
		{Call: "2.1", Before: "1.jpg", NoPicture: "the page shows a secret"},
		{Call: "3", After: "../../outside.jpg"},
	}}
	page := tracedSession(t, trace, nil)
	films := strings.Split(page, `<ol class="film"`)
	if len(films) != 3 {
		t.Fatalf("%d film strips", len(films)-1)
	}
	first, _, _ := strings.Cut(films[1], "</ol>")
	second, _, _ := strings.Cut(films[2], "</ol>")
	for _, tt := range []struct{ part, want string }{
		{first, `alt="before open"`},
		{first, `alt="open"`},
		{first, `no change</p><p class="dim">look</p>`},
		{first, `the page shows a secret</p><p class="dim">tap</p>`},
		{second, `is-failed"><p class="gap">the file is not there, or cannot be read</p>`},
		{page, "<dt>Requests</dt><dd><pre>GET http://shop/a 200</pre>"},
		{page, "<dt>Console</dt><dd><pre>log: &lt;b&gt;</pre>"},
		{page, "3 requests and lines of the console"},
		{page, "- button"},
		{page, "The trace was too large. Its oldest parts were removed: 1 picture, 2 calls."},
	} {
		if !strings.Contains(tt.part, tt.want) {
			t.Errorf("there is no %s", tt.want)
		}
	}
	if n := strings.Count(first, `src="data:image/png`); n != 2 {
		t.Errorf("%d pictures in\n%s", n, first)
	}
	if page := tracedSession(t, event.Trace{}, []byte(`{"calls": [{`)); !strings.Contains(page, "The trace could not be read: ") {
		t.Error("the page does not say that the trace is broken")
	}
}

// tracedSession returns the page of a session with a trace, or with other bytes as its index.
func tracedSession(t *testing.T, trace event.Trace, index []byte) string {
	t.Helper()
	logs := t.TempDir()
	writeFile(t, filepath.Join(logs, "outside.jpg"), picture(t, 3, 2))
	writeFile(t, filepath.Join(logs, "s", "trace", "0.jpg"), picture(t, 3, 2))
	writeFile(t, filepath.Join(logs, "s", "trace", "1.jpg"), picture(t, 3, 2))
	writeFile(t, filepath.Join(logs, "s", "trace", "screen-2.txt"), []byte("- button"))
	if index == nil {
		var err error
		if index, err = json.Marshal(trace); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(logs, "s", "trace", "trace.json"), index)
	h := NewHTML(logs)
	e := event.NewStream(newClock().now, nothingSecret(), h).Session("s", "a.trail.yaml", nil)
	e.Emit(event.TrailStarted{File: "a.trail.yaml", Title: "A"})
	e.Emit(event.StepStarted{Index: 1, Of: 2, Text: "look", Kind: "step"})
	for _, call := range []event.CallStarted{{Call: "1", Tool: "open"}, {Call: "2", Tool: "look"}, {Call: "2.1", Tool: "tap"}} {
		e.Emit(call)
		e.Emit(event.CallFinished{Call: call.Call, Tool: call.Tool, OK: true})
	}
	e.Emit(event.StepStarted{Index: 2, Of: 2, Text: "fail", Kind: "step"})
	e.Emit(event.CallStarted{Call: "3", Tool: "verify"})
	e.Emit(event.CallFinished{Call: "3", Tool: "verify"})
	e.Emit(event.Evidence{File: "trace/trace.json", Title: "trace", Step: 2})
	return string(pageBytes(t, h))
}
