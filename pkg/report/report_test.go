package report

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (write it with -update)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), or run with -update:\n%s", file, diff)
	}
}

// clock is a time that the test advances.
type clock struct{ t time.Time }

func newClock() *clock                { return &clock{time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)} }
func (c *clock) now() time.Time       { return c.t }
func (c *clock) pass(d time.Duration) { c.t = c.t.Add(d) }

func consoleOptions(c *clock) ConsoleOptions {
	return ConsoleOptions{Now: c.now, LogsDir: "logs"}
}

// newConsole returns a console for a run that writes a JUnit file.
func newConsole(w io.Writer, style Style, opts ConsoleOptions) *Console {
	c := NewConsole(w, style, opts)
	c.AddReport("JUnit", "build/junit.xml")
	return c
}

// play emits a run with every kind of event and outcome.
func play(c *clock, handlers ...event.Handler) {
	s := event.NewStream(c.now, redact.New(nil), handlers...)
	s.Emit(event.RunStarted{Trails: 7})
	playPassing(c, s)
	playFailing(c, s)

	broken := s.Session("", "trails/broken.trail.yaml", nil)
	broken.Emit(event.TrailFinished{
		File: "trails/broken.trail.yaml", Title: "broken", Outcome: event.Error, Attempts: 1, Hint: `did you mean "step"?`,
		Reason: "trails/broken.trail.yaml:3:5: unknown key \"stpe\"\ntrails/broken.trail.yaml:9:1: no key \"trail\"",
	})
	skipped := s.Session("", "trails/ios.trail.yaml", nil)
	skipped.Emit(event.TrailStarted{File: "trails/ios.trail.yaml", Title: "Only on iOS", Target: "app", Driver: "playwright-native", Steps: 1})
	skipped.Emit(event.TrailFinished{File: "trails/ios.trail.yaml", Title: "Only on iOS", Outcome: event.Skipped, Reason: "not built yet", Attempts: 1})

	for attempt, session := range []string{"flaky_1", "flaky_2"} {
		e := s.Session(session, "trails/flaky.trail.yaml", nil)
		e.Emit(event.TrailStarted{File: "trails/flaky.trail.yaml", Title: "Sometimes", Target: "app", Driver: "playwright-native", Steps: 1})
		c.pass(300 * time.Millisecond)
		if attempt == 0 {
			e.Log("warn", "run", "attempt 1 of 2: failed: no", "")
			continue
		}
		e.Emit(event.TrailFinished{File: "trails/flaky.trail.yaml", Title: "Sometimes", Outcome: event.Passed, Flaky: true, Attempts: 2, DurationMs: 600})
	}
	s.Emit(event.RunFinished{Passed: 2, Failed: 1, Errors: 1, Skipped: 1, Flaky: 1, ExitCode: 2, DurationMs: 65400})
}

func playPassing(c *clock, s *event.Stream) {
	e := s.Session("checkout_1", "trails/shop/checkout.trail.yaml", nil)
	e.Emit(event.TrailStarted{File: "trails/shop/checkout.trail.yaml", Title: "Check out", Target: "app", Driver: "playwright-native", Agent: "host", Steps: 2})
	c.pass(90 * time.Millisecond)
	e.Emit(event.ServerStarted{Server: "./tools/shop.ts", Tools: 4, DurationMs: 90})
	e.Emit(event.StepStarted{Index: 1, Of: 2, Text: "Create a user", Kind: "step"})
	e.Emit(event.CallStarted{Call: "1", Tool: "generateTestUser", Source: "server ./tools/shop.ts", Args: map[string]any{"role": "admin \x1b[31mred"}})
	c.pass(1200 * time.Millisecond)
	e.Emit(event.CallProgress{Call: "1", Tool: "generateTestUser", Message: "half\nway"})
	e.Emit(event.CallFinished{Call: "1", Tool: "generateTestUser", OK: true, Text: "Ada\x07\n\x1b]0;title\aLovelace", DurationMs: 1200})
	e.Emit(event.StepFinished{Index: 1, Outcome: event.Passed})
	e.Emit(event.StepStarted{Index: 2, Of: 2, Text: "Pay", Kind: "verify"})
	e.Emit(event.CallStarted{Call: "2", Tool: "pay"})
	e.Emit(event.CallFinished{Call: "2", Tool: "pay", OK: true, DurationMs: 10})
	e.Emit(event.StepFinished{Index: 2, Outcome: event.Passed})
	e.Log("debug", "./tools/shop.ts", "a detail", "")
	e.Log("info", "./tools/shop.ts", "no answer after 5s, the limit is 1m", "raise startupTimeout")
	e.Emit(event.TrailFinished{File: "trails/shop/checkout.trail.yaml", Title: "Check out", Outcome: event.Passed, DurationMs: 1300, Attempts: 1})
}

func playFailing(c *clock, s *event.Stream) {
	e := s.Session("login_1", "trails/login.trail.yaml", nil)
	e.Emit(event.TrailStarted{File: "trails/login.trail.yaml", Title: "Log in", Target: "app", Driver: "playwright-native", Agent: "host", Steps: 3})
	e.Emit(event.StepStarted{Index: 2, Of: 3, Text: "Log in as Ada", Kind: "step"})
	e.Emit(event.CallStarted{Call: "1", Tool: "login", Args: map[string]any{}})
	c.pass(63 * time.Second)
	const reason = "wrong password\n\x1b[1mexpected\x1b[0m: welcome\nfound: \xff]]> <try again> & \x00"
	e.Emit(event.CallFinished{Call: "1", Tool: "login", Error: reason, Kind: fault.ToolFailed, DurationMs: 63000})
	e.Emit(event.StepFinished{Index: 2, Outcome: event.Failed})
	e.Emit(event.TrailFinished{
		File: "trails/login.trail.yaml", Title: "Log in", Outcome: event.Failed, Reason: reason, Hint: "look at the password", Step: 2, StepText: "Log in as Ada",
		Tool: "login", Line: 14, Snippet: "   12 |     recording:\n   13 |       web:\n   14 |       - login: {}\n      |         ^",
		DurationMs: 63000, Attempts: 1, Artifacts: []string{"logs/login_1/events.ndjson", "logs/login_1/failure/screen.png"},
	})
}

func TestConsole(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		style          Style
		verbose, quiet bool
	}{
		"console-plain":   {},
		"console-verbose": {verbose: true},
		"console-quiet":   {quiet: true},
		"console-ascii":   {style: Style{ASCII: true}},
		"console-color":   {style: Style{Color: true, Width: 80}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			c := newClock()
			opts := consoleOptions(c)
			opts.Verbose, opts.Quiet = tt.verbose, tt.quiet
			console := newConsole(&out, tt.style, opts)
			play(c, console)
			console.Close()
			golden(t, name, out.Bytes())
		})
	}
}
