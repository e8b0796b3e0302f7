package report

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
)

// summaryOf returns the last lines of a run with these failures.
func summaryOf(t *testing.T, failures ...event.TrailFinished) []string {
	t.Helper()
	var out bytes.Buffer
	clock := newClock()
	console := newConsole(&out, Style{}, consoleOptions(clock))
	s := event.NewStream(clock.now, redact.New(nil), console)
	for i, f := range failures {
		s.Session(fmt.Sprintf("session_%d", i), f.File, nil).Emit(f)
	}
	out.Reset()
	s.Emit(event.RunFinished{Failed: len(failures)})
	console.Close()
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func failedTrail(n int, reason string) event.TrailFinished {
	return event.TrailFinished{
		File: fmt.Sprintf("trails/%d.trail.yaml", n), Title: fmt.Sprintf("trail %d", n), Outcome: event.Failed, Line: 7, Step: 2, StepText: "A step", Tool: "tool",
		Reason: reason, Hint: "a hint", Artifacts: []string{"logs/a", "logs/b"},
	}
}

func TestFailuresAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of the reason\n", 500)
	wide := strings.Repeat("wide ", 1<<20)
	for _, n := range []int{1, 2, 3, 7, 10, 11, 100} {
		for name, reason := range map[string]string{"short": "no", "long": long, "wide": wide, "empty": ""} {
			var failures []event.TrailFinished
			for i := range n {
				failures = append(failures, failedTrail(i, reason))
			}
			lines := summaryOf(t, failures...)
			const around = 1 + 1 + 1 + 3 // blank, what is left out, blank, paths and counts
			if len(lines) > maxDetail+around {
				t.Errorf("%d failures, %s: %d lines", n, name, len(lines))
			}
			text := strings.Join(lines, "\n")
			for i := range min(n, 10) {
				want := fmt.Sprintf("✗ trail %d (failed)\n  trails/%d.trail.yaml:7\n  step 2: A step, tool tool\n  %.4s", i, i, strings.TrimSpace(reason))
				if !strings.Contains(text, want) {
					t.Errorf("%d failures, %s: no %q in\n%.2000s", n, name, want, text)
				}
			}
			if n > 10 != strings.Contains(text, fmt.Sprintf("… %d more did not pass, see their lines above and logs", n-10)) {
				t.Errorf("%d failures, %s: what was left out is not said or said in vain:\n%.2000s", n, name, text)
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > maxColumns {
					t.Errorf("%d failures, %s: a line has %d columns", n, name, ansi.StringWidth(line))
				}
			}
		}
	}
}

// crashed returns a failure whose reason ends with the last lines of a server's log.
func crashed(n int) event.TrailFinished {
	f := failedTrail(n, "server \"boom\": crashed\n  the process ran for 1s\n  the end of its stderr:\n"+strings.Repeat("    a line\n\n", 30)+"    no database\n  log: logs/boom.log")
	f.Snippet = "    6 | before\n    7 | - tool: {}\n      | ^"
	f.Artifacts = append(f.Artifacts, "logs/c")
	return f
}

func TestLongReasonIsShortenedInTheMiddle(t *testing.T) {
	t.Parallel()
	const (
		place = "\n  trails/0.trail.yaml:7\n  step 2: A step, tool tool\n  server \"boom\": crashed\n"
		ended = "\n      no database\n    log: logs/boom.log\n"
		line  = "      7 | - tool: {}\n"
	)
	for n, want := range map[int][]string{
		1: {place, " more lines in logs/session_0/events.ndjson\n", ended + "      6 | before\n" + line + "        | ^\n  hint: a hint\n  see logs: a, b, c\n"},
		2: {place, ended + "      6 | before\n" + line + "        | ^\n  hint: a hint\n  see logs: a, b, c\n"},
		3: {place, ended + "      6 | before\n" + line + "        | ^\n  hint: a hint\n  see logs: a, b, c\n"},
		4: {place + "  … 32 more lines in logs/session_0/events.ndjson" + ended + line + "  hint: a hint\n  see logs: a, b, c\n"},
		5: {place + "  … 32 more lines in logs/session_0/events.ndjson" + ended + "  hint: a hint\n"},
		6: {place + "  … log: logs/boom.log\n  hint: a hint\n✗"},
		7: {place + "  … log: logs/boom.log\n✗"},
		8: {place + "  … log: logs/boom.log\n✗"},
		9: {place + "✗"},
	} {
		var failures []event.TrailFinished
		for i := range n {
			failures = append(failures, crashed(i))
		}
		got := strings.ReplaceAll(strings.Join(summaryOf(t, failures...), "\n"), `\`, "/")
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%d failures: got\n%s\nwant in it\n%s", n, got, text)
			}
		}
	}
}

func TestFilesOfFailureAreOneLine(t *testing.T) {
	t.Parallel()
	console := newConsole(&bytes.Buffer{}, Style{}, ConsoleOptions{
		Relative: func(path string) string { return strings.TrimPrefix(filepath.ToSlash(path), "/p/") },
	})
	defer console.Close()
	for want, files := range map[string][]string{
		"see logs/a: events.ndjson, failure/": {"/p/logs/a/events.ndjson", "/p/logs/a/failure/1.png", "/p/logs/a/failure/2.png"},
		"see logs/a: events.ndjson":           {"/p/logs/a/events.ndjson"},
		"see logs/a (9 files)":                {"/p/logs/a/1", "/p/logs/a/2", "/p/logs/a/3", "/p/logs/a/4", "/p/logs/a/5", "/p/logs/a/6", "/p/logs/a/7", "/p/logs/a/8", "/p/logs/a/9"},
	} {
		if got := filepath.ToSlash(strings.Join(console.folderLines(files), "|")); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRepairIsForFirstCallThatFailed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	clock := newClock()
	opts := consoleOptions(clock)
	opts.Repair = func(session string, started event.TrailStarted, failed event.TrailFinished) []string {
		return []string{"studio " + session, "start " + started.Driver, "replay " + failed.File}
	}
	console := newConsole(&out, Style{}, opts)
	s := event.NewStream(clock.now, redact.New(nil), console)
	for i, kind := range []fault.Kind{fault.Server, fault.ToolFailed, fault.ToolFailed} {
		f := failedTrail(i, "no")
		e := s.Session(fmt.Sprintf("session_%d", i), f.File, nil)
		e.Emit(event.TrailStarted{File: f.File, Title: f.Title, Driver: "playwright-native"})
		e.Emit(event.CallFinished{Call: "1", Tool: "tool", Kind: kind})
		e.Emit(event.CallFinished{Call: "2", Tool: "cleanUp", OK: true}) // of the teardown
		e.Emit(f)
	}
	s.Emit(event.RunFinished{Failed: 3})
	console.Close()
	const want = "or to repair the trail:\n  studio session_1\n  start playwright-native\n  replay trails/1.trail.yaml\n3 failed"
	if got := out.String(); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
}

func TestCountsAreLastLine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		total int
		end   event.RunFinished
		want  string
	}{
		"all passed":   {3, event.RunFinished{Passed: 3, DurationMs: 1234}, "3 passed in 1.2s"},
		"one error":    {1, event.RunFinished{Errors: 1}, "1 error in 0.0s"},
		"everything":   {9, event.RunFinished{Failed: 1, Errors: 2, Passed: 3, Flaky: 1, Skipped: 1}, "1 failed, 2 errors, 3 passed (1 flaky), 1 skipped, 2 not run in 0.0s"},
		"nothing":      {0, event.RunFinished{}, "no trails in 0.0s"},
		"over an hour": {1, event.RunFinished{Passed: 1, DurationMs: 3_725_000}, "1 passed in 1h02m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, quiet := range []bool{false, true} {
				var out bytes.Buffer
				clock := newClock()
				opts := consoleOptions(clock)
				opts.Quiet = quiet
				console := newConsole(&out, Style{}, opts)
				s := event.NewStream(clock.now, redact.New(nil), console)
				s.Emit(event.RunStarted{Trails: tt.total})
				s.Emit(tt.end)
				console.Close()
				if !strings.HasSuffix("\n"+out.String(), "\n"+tt.want+"\n") {
					t.Errorf("quiet %v: got %q, want at its end %q", quiet, out.String(), tt.want)
				}
			}
		})
	}
}

func TestListOfFlakyTrailsIsBounded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	clock := newClock()
	console := newConsole(&out, Style{}, consoleOptions(clock))
	s := event.NewStream(clock.now, redact.New(nil), console)
	for i := range 15 {
		s.Emit(event.TrailFinished{Title: fmt.Sprint("trail ", i), Outcome: event.Passed, Flaky: true, Attempts: 3})
	}
	s.Emit(event.RunFinished{Passed: 15, Flaky: 15})
	console.Close()
	if strings.Count(out.String(), "flaky: trail") != 10 || !strings.Contains(out.String(), "flaky: trail 0 passed on attempt 3\n") || !strings.Contains(out.String(), "… 5 more flaky\n") {
		t.Errorf("got\n%s", out.String())
	}
}

func TestNestedCallsAreIndented(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	clock := newClock()
	opts := consoleOptions(clock)
	opts.Verbose = true
	console := newConsole(&out, Style{}, opts)
	defer console.Close()
	s := event.NewStream(clock.now, redact.New(nil), console).Session("1", "a", nil)
	s.Emit(event.TrailStarted{File: "a", Title: "one"})
	s.Emit(event.CallStarted{Call: "1", Tool: "outer"})
	s.Emit(event.CallStarted{Call: "1.1", Tool: "inner"})
	s.Emit(event.CallFinished{Call: "1.1", Tool: "inner", OK: true, Text: "yes"})
	s.Emit(event.CallFinished{Call: "1", Tool: "outer", OK: true, Text: "done"})
	got := out.String()[strings.Index(out.String(), "    outer"):]
	want := "    outer\n      inner\n      ✓ inner (0ms) yes\n    ✓ outer (0ms) done\n"
	if got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestSummaryIsWrittenByCloseWithReportsThatWereWritten(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	console := NewConsole(&out, Style{}, ConsoleOptions{Now: time.Now})
	console.Handle(event.Record{Event: event.RunStarted{Trails: 1}})
	console.Handle(event.Record{Event: event.RunFinished{Passed: 1}})
	console.Handle(event.Record{Event: event.Log{Level: "warn", Message: "a warning after the run"}})
	if got := out.String(); strings.Contains(got, "passed") {
		t.Errorf("before Close: %s", got)
	}
	console.AddReport("JUnit", "a\x1b[31m.xml")
	console.AddReport("HTML", "b.html")
	console.Close()
	console.Close()
	if got, want := out.String(), "warning: a warning after the run\n\nJUnit: a.xml\nHTML: b.html\n1 passed in 0.0s\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNotesOfPassingTrailsAreInTheSummary(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	clock := newClock()
	console := newConsole(&out, Style{}, consoleOptions(clock))
	s := event.NewStream(clock.now, redact.New(map[string]string{"PW": "hunter22"}), console)
	for i, outcome := range []event.Outcome{event.Passed, event.Failed, event.Passed} {
		e := s.Session(fmt.Sprintf("session_%d", i), fmt.Sprintf("%d.trail.yaml", i), nil)
		e.Emit(event.TrailStarted{File: fmt.Sprintf("%d.trail.yaml", i), Title: fmt.Sprintf("trail %d", i)})
		e.Emit(event.StepStarted{Index: 1, Of: 1, Text: "Delete"})
		for range 6 {
			e.Emit(event.CallFinished{Call: "1", Tool: "web_click", OK: true, Notes: []string{`only part of its text is "hunter22"`}})
		}
		e.Emit(event.TrailFinished{File: fmt.Sprintf("%d.trail.yaml", i), Title: fmt.Sprintf("trail %d", i), Outcome: outcome})
	}
	s.Emit(event.RunFinished{Passed: 2, Failed: 1})
	console.Close()
	note := "note: trail 0, step 1/1 Delete, web_click: only part of its text is \"{{PW}}\"\n"
	if got := out.String(); strings.Count(got, "note: trail ") != 10 || !strings.Contains(got, note) ||
		strings.Contains(got, "note: trail 1") || !strings.Contains(got, "… 2 more notes of calls\n") {
		t.Errorf("got\n%s", got)
	}
}
