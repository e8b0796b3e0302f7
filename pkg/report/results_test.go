package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
)

// resultsText returns the JSON lines of a run with every kind of event and outcome.
func resultsText(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	play(newClock(), NewJSONLines(&out))
	return out.String()
}

func resultsFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "results-1-of-1.ndjson")
	writeFile(t, path, []byte(text))
	return path
}

func TestReadResults(t *testing.T) {
	t.Parallel()
	whole := resultsText(t)
	beforeEnd := whole[:strings.LastIndex(strings.TrimSpace(whole), "\n")+1]
	inTrail := whole[:strings.Index(whole, `"type":"step.finished"`)]
	inTrail = inTrail[:strings.LastIndex(inTrail, "\n")+1]
	counts := event.RunFinished{Passed: 2, Failed: 1, Errors: 1, Skipped: 1, Flaky: 1, ExitCode: 2, DurationMs: 65400}
	killed := counts
	killed.DurationMs = 64890
	type facts struct {
		Runs     int
		Ended    bool
		Finished event.RunFinished
		Lost     int
	}
	for name, tt := range map[string]struct {
		text string
		want facts
		cut  int
	}{
		"whole":                   {text: whole, want: facts{Runs: 1, Ended: true, Finished: counts}},
		"types of later":          {text: `{"v":1,"type":"moon.rose","time":"2026-11-20T12:00:00Z","seq":3}` + "\n" + whole, want: facts{Runs: 1, Ended: true, Finished: counts}},
		"without its end":         {text: beforeEnd, want: facts{Runs: 1, Finished: killed}},
		"ended in a line":         {text: beforeEnd + `{"v":1,"ty`, want: facts{Runs: 1, Finished: killed, Lost: 1}},
		"ended in a trail":        {text: inTrail, want: facts{Runs: 1, Finished: event.RunFinished{Errors: 1, ExitCode: 2, DurationMs: 1290}}, cut: 1},
		"nothing":                 {want: facts{Finished: event.RunFinished{ExitCode: 2}}},
		"half a line":             {text: `{"v":1`, want: facts{Lost: 1, Finished: event.RunFinished{ExitCode: 2}}},
		"a hole in the middle":    {text: strings.Replace(whole, "\n", "\n\x00\x00garbage\n\n", 1), want: facts{Runs: 1, Ended: true, Finished: counts, Lost: 1}},
		"a line that is not JSON": {text: "warning: something\n" + whole, want: facts{Runs: 1, Ended: true, Finished: counts, Lost: 1}},
	} {
		records := 0
		got, err := ReadResults(resultsFile(t, tt.text), event.HandlerFunc(func(event.Record) { records++ }))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		has := facts{Runs: got.Runs, Ended: got.Ended, Finished: got.Finished, Lost: got.Lost}
		if diff := cmp.Diff(fmt.Sprintf("%+v", tt.want), fmt.Sprintf("%+v", has)); diff != "" || len(got.Interrupted) != tt.cut || (records == 0) != (tt.want.Runs == 0) {
			t.Errorf("%s: %d records, cut short %v (-want +got):\n%s", name, records, got.Interrupted, diff)
		}
	}
	for name, text := range map[string]string{"a trail": "trail:\n  - step: x\n", "a report": "<?xml?>\n<testsuites/>\n"} {
		if _, err := ReadResults(resultsFile(t, text)); fault.KindOf(err) != fault.Misuse {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadResults(filepath.Join(t.TempDir(), "none")); fault.KindOf(err) != fault.Misuse {
		t.Errorf("no file: %v", err)
	}
}

func TestLinesThatAreTooLongAreSkipped(t *testing.T) {
	t.Parallel()
	whole := resultsText(t)
	first, rest, _ := strings.Cut(whole, "\n")
	longest := 0
	for line := range strings.Lines(whole) {
		longest = max(longest, len(line))
	}
	for name, tt := range map[string]struct {
		text          string
		limit         int
		records, lost int
	}{
		"none":                {whole, longest, strings.Count(whole, "\n"), 0},
		"the longest":         {whole, longest - 1, strings.Count(whole, "\n") - 1, 1},
		"several buffers":     {first + "\n" + strings.Repeat("x", 1<<18) + "\n" + rest, longest, strings.Count(whole, "\n"), 1},
		"without an end":      {first + "\n" + strings.Repeat("x", 1<<18), longest, 1, 1},
		"an event and spaces": {first + strings.Repeat(" ", 1<<18) + "\n", longest, 0, 1},
	} {
		records := 0
		lost, err := readRecords(strings.NewReader(tt.text), tt.limit, func(event.Record) { records++ })
		if err != nil || records != tt.records || lost != tt.lost {
			t.Errorf("%s: %d records, %d lost, %v; want %d and %d", name, records, lost, err, tt.records, tt.lost)
		}
	}
}

func TestReportsOfResultsEqualThoseOfRun(t *testing.T) {
	t.Parallel()
	logs := t.TempDir()
	var lines bytes.Buffer
	wantJUnit, wantPage := NewJUnit(), NewHTML(logs)
	s := event.NewStream(newClock().now, redact.New(nil), wantJUnit, wantPage, NewJSONLines(&lines))
	s.Emit(event.RunStarted{Trails: 1, Shard: "1/1"})
	hostileRun(t, logs, s)
	s.Emit(event.RunFinished{Failed: 1, ExitCode: 1})
	junit, page := NewJUnit(), NewHTML("")
	if _, err := ReadResults(resultsFile(t, lines.String()), junit, page.HandlerFor(logs)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written(t, wantJUnit), written(t, junit)); diff != "" {
		t.Errorf("JUnit (-of the run +of its results):\n%s", diff)
	}
	if diff := cmp.Diff(string(pageBytes(t, wantPage)), string(pageBytes(t, page))); diff != "" {
		t.Errorf("the page (-of the run +of its results):\n%s", diff)
	}
}

func TestResultsOfSeveralRuns(t *testing.T) {
	t.Parallel()
	j := NewJUnit()
	clock := newClock()
	s := event.NewStream(clock.now, redact.New(nil), j)
	s.Emit(event.RunStarted{Trails: 1, Shard: "1/2", DryRun: true})
	s.Session("1", "a", nil).Emit(event.TrailStarted{File: "a", Title: "A"})
	clock.pass(2e9)
	s.Emit(event.Log{})
	clock.pass(1e12)
	s.Emit(event.RunStarted{Trails: 1, Shard: "2/2"})
	s.Session("2", "b", nil).Emit(event.TrailFinished{File: "b", Title: "B", Outcome: event.Passed})
	got := written(t, j)
	for _, want := range []string{
		`<testcase name="A" classname="a" time="2.000" file="a">` + "\n      <error", `<property name="dryRun" value="true"></property>`, `<property name="shard" value="1/2">`, `<property name="shard" value="2/2">`, `tests="2" failures="0" errors="1"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestConsoleWithEndOnly(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	opts := consoleOptions(newClock())
	opts.EndOnly, opts.LogsDir = true, ""
	console := newConsole(&out, Style{}, opts)
	for i := range 12 {
		console.Handle(event.Record{Event: event.RunStarted{Trails: 2}})
		console.Handle(event.Record{Event: failedTrail(11-i, "no")})
	}
	if out.Len() > 0 {
		t.Errorf("before the end there is\n%s", out.String())
	}
	console.Handle(event.Record{Event: event.RunFinished{Failed: 12}})
	console.Close()
	got := out.String()
	for _, want := range []string{"✗ trail 2 (failed)\n", "\n… 2 more did not pass\n", "JUnit: build/junit.xml\n12 failed, 12 not run in 0.0s\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if !strings.HasPrefix(got, "✗ trail 10 (failed)\n") {
		t.Errorf("failures are not in order of their files:\n%s", got)
	}
}

func TestArtifactsMovedWithResults(t *testing.T) {
	t.Parallel()
	path := resultsFile(t, `{"v":1,"type":"trail.finished","time":"2026-11-20T12:00:00Z","seq":1,"session":"cart_1","trail":"a.trail.yaml","file":"a.trail.yaml",`+
		`"outcome":"failed","artifacts":["/ci/logs/cart_1/failure/screen.png","/ci/logs/cart_1/gone.png","/elsewhere/x.png"]}`+"\n")
	here := filepath.Join(filepath.Dir(path), "cart_1", "failure", "screen.png")
	if err := os.MkdirAll(filepath.Dir(here), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, here, []byte("png"))
	var got []string
	if _, err := ReadResults(path, event.HandlerFunc(func(r event.Record) { got = r.Event.(event.TrailFinished).Artifacts })); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{here, "/ci/logs/cart_1/gone.png", "/elsewhere/x.png"}, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
