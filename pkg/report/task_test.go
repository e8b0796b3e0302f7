package report

import (
	"bytes"
	"encoding/xml"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
)

func request(n, tokens, cached int, dollars *float64, file string) event.LLMFinished {
	return event.LLMFinished{
		N: n, Task: "2", Status: "calls", Tokens: tokens, CachedTokens: cached, OutputTokens: 40, Cost: dollars, DurationMs: 900, Attempts: 1, File: file,
	}
}

// playAssisted emits a run with one trail, a step of which a model carries out.
func playAssisted(c *clock, s *event.Stream) {
	s.Emit(event.RunStarted{Trails: 2})
	e := s.Session("checkout_1", "a.trail.yaml", nil)
	e.Emit(event.TrailStarted{File: "a.trail.yaml", Title: "Check out", Target: "app", Driver: "playwright-native", Steps: 2})
	e.Emit(event.StepStarted{Index: 2, Of: 2, Text: "The total is right", Kind: "verify"})
	e.Emit(event.TaskStarted{Step: "2", Kind: "verify", Model: "test/rules <b>", MaxRequests: 12})
	e.Emit(request(1, 2000, 0, new(0.01), "llm/001.json"))
	e.Emit(event.CallStarted{Call: "1", Tool: "assertVisible"})
	e.Emit(event.CallFinished{Call: "1", Tool: "assertVisible", OK: true})
	e.Emit(request(2, 2500, 2000, new(0.002), "llm/002.json"))
	e.Emit(event.TaskFinished{Step: "2", Outcome: event.Passed, Warnings: []string{"the check also held <b>before</b> step 1"}})
	e.Emit(event.StepFinished{Index: 2, Outcome: event.Passed})
	c.pass(time.Second)
	use := &event.ModelUse{Mode: event.Assisted, Requests: 2, Tokens: 4500, CachedTokens: 2000, OutputTokens: 80, Cost: new(0.012)}
	e.Emit(event.TrailFinished{File: "a.trail.yaml", Title: "Check out", Outcome: event.Passed, DurationMs: 1000, Attempts: 1, ModelUse: use})
	other := s.Session("b_1", "b.trail.yaml", nil)
	other.Emit(event.TrailStarted{File: "b.trail.yaml", Title: "Recorded"})
	recorded := &event.ModelUse{Mode: event.Recorded}
	other.Emit(event.TrailFinished{File: "b.trail.yaml", Title: "Recorded", Outcome: event.Passed, DurationMs: 10, Attempts: 1, ModelUse: recorded})
	s.Emit(event.RunFinished{Passed: 2, Assisted: 1, DurationMs: 1010, ModelUse: use})
}

func TestConsoleOfAssistedTrail(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := newClock()
	console := NewConsole(&out, Style{}, consoleOptions(c))
	playAssisted(c, event.NewStream(c.now, nothingSecret(), console))
	console.Close()
	const want = `running [1/2] Check out (2 steps, app, playwright-native)
✓ [1/2] Check out (1.0s, assisted with 2 requests, 4.5k tokens, 44 % cached, $0.012)
running [2/2] Recorded (0 steps)
✓ [2/2] Recorded (10ms)

model: 2 requests, 4.5k tokens, 44 % cached, $0.012
note: Check out, step 2/2 The total is right, test/rules <b>: the check also held <b>before</b> step 1
logs: logs
2 passed (1 assisted) in 1.0s
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLiveLineOfTask(t *testing.T) {
	t.Parallel()
	v, _, console, stream := liveConsole(t, 120)
	defer console.Close()
	e := stream.Session("s1", "a.trail.yaml", nil)
	e.Emit(event.TrailStarted{File: "a.trail.yaml", Title: "checkout", Steps: 7})
	e.Emit(event.StepStarted{Index: 3, Of: 7, Text: "Put the mug into the cart"})
	for _, tt := range []struct {
		event event.Event
		want  string
	}{
		{event.TaskStarted{Step: "3", MaxRequests: 12}, "request 1/12"},
		{request(1, 8200, 5000, new(0.012), ""), "request 2/12 · 8.2k tokens, 60 % cached · $0.012"},
		{event.CallStarted{Call: "1", Tool: "web_click"}, "request 2/12 · 8.2k tokens, 60 % cached · $0.012 · web_click"},
		{event.CallFinished{Call: "1", Tool: "web_click", OK: true}, "request 2/12 · 8.2k tokens, 60 % cached · $0.012"},
		{request(2, 1800, 1000, nil, ""), "request 3/12 · 10k tokens, 60 % cached · cost unknown"},
		{event.TaskFinished{Step: "3", Outcome: event.Passed}, ""},
	} {
		e.Emit(tt.event)
		want := "⠋ checkout — " + joinNonEmpty(" · ", "step 3/7 Put the mug into the cart", tt.want) + " 0.0s\n"
		if diff := cmp.Diff(want, look(console, v)); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", tt.event.Type(), diff)
		}
	}
}

func TestJUnitOfAssistedTrail(t *testing.T) {
	t.Parallel()
	j := NewJUnit()
	playAssisted(newClock(), event.NewStream(newClock().now, nothingSecret(), j))
	var out bytes.Buffer
	if err := j.Write(&out); err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Suites []struct {
			Properties []property `xml:"properties>property"`
			Output     []string   `xml:"testcase>system-out"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(out.Bytes(), &parsed); err != nil {
		t.Fatal(err)
	}
	want := []property{{"mode", "assisted"}, {"requests", "2"}, {"cost", "0.012"}}
	if diff := cmp.Diff(want, parsed.Suites[0].Properties); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]property{{"mode", "recorded"}, {"requests", "0"}}, parsed.Suites[1].Properties); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(parsed.Suites[0].Output) != 1 || !strings.Contains(parsed.Suites[0].Output[0], "also held") {
		t.Errorf("%q", parsed.Suites[0].Output)
	}
}

func TestPageShowsRequestsOfStep(t *testing.T) {
	t.Parallel()
	logs := t.TempDir()
	folder := filepath.Join(logs, "checkout_1", "llm")
	writeFile(t, filepath.Join(folder, "001.json"), []byte(`{"blocks":[{"text":"TASK verify: <b>"},{"text":"the screen"},{"image":"iVBORw=="}],`+
		`"answer":{"end":"calls","calls":[{"name":"assertVisible","args":{"ref":"e1"}}]}}`))
	writeFile(t, filepath.Join(folder, "002.json"), []byte(`{"blocks":[{"text":"TASK verify: <b>"},{"text":"the screen"},{"text":"it is visible"}],`+
		`"answer":{"text":"Seen.","calls":[{"name":"step_done","args":{"status":"done"}}]}}`))
	h := NewHTML(logs)
	playAssisted(newClock(), event.NewStream(newClock().now, nothingSecret(), h))
	raw := pageBytes(t, h)
	page := strings.Join(strings.Fields(text(raw)), " ")
	for _, want := range []string{
		"model: 2 requests, 4.5k tokens, 44 % cached, $0.012", "Check out a.trail.yaml assisted", "Recorded b.trail.yaml recorded",
		"the check also held <b>before</b> step 1 Carried out by test/rules <b> 2 requests, 4.5k tokens, 44 % cached, $0.012",
		`request 1 assertVisible {"ref":"e1"} 0.9s Used 2.0k tokens, 40 of the answer, $0.01 Was sent TASK verify: <b> the screen (a picture of the screen) Answered assertVisible`,
		`request 2 Seen. step_done {"status":"done"} 0.9s Used 2.5k tokens, 80 % cached, 40 of the answer, $0.002 Was sent it is visible Answered`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if bytes.Contains(raw, []byte("<b>before")) {
		t.Error("a warning became a part of the page")
	}
}

// TestPageSumsUpAllRequestsOfStep has more requests than a page shows.
func TestPageSumsUpAllRequestsOfStep(t *testing.T) {
	t.Parallel()
	h := NewHTML("")
	e := event.NewStream(newClock().now, nothingSecret(), h).Session("s", "a.trail.yaml", nil)
	e.Emit(event.TrailStarted{File: "a.trail.yaml", Title: "A"})
	e.Emit(event.StepStarted{Index: 2, Of: 2, Text: "long", Kind: "step"})
	e.Emit(event.TaskStarted{Step: "2", Model: "test/rules"})
	for n := range maxTurns + 20 {
		e.Emit(request(n+1, 100, 0, new(0.5), ""))
	}
	page := strings.Join(strings.Fields(text(pageBytes(t, h))), " ")
	for _, want := range []string{"Carried out by test/rules 120 requests, 12k tokens, $60.00", "20 more requests are left out here"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestCostsAndCountsAreShort(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]float64{
		"$0": 0, "$0.000004": 0.000004, "$0.0001": 0.0001, "$0.0123": 0.01234, "$0.012": 0.012, "$0.10": 0.1, "$0.123": 0.1234, "$1.00": 1, "$12.35": 12.345678,
	} {
		if got := dollars(value); got != want {
			t.Errorf("%v: %s, want %s", value, got, want)
		}
	}
	for want, value := range map[string]int{"0": 0, "999": 999, "1.0k": 1000, "9.9k": 9900, "10k": 9999, "120k": 120_400, "1.0M": 999_600} {
		if got := countText(value); got != want {
			t.Errorf("%d: %s, want %s", value, got, want)
		}
	}
}
