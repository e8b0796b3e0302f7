package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/redact"
)

// liveConsole returns a console on a virtual terminal, with a clock that only the test advances.
func liveConsole(t *testing.T, width int) (*terminal, *clock, *Console, *event.Stream) {
	t.Helper()
	v, c := newTerminal(t, width), newClock()
	console := newConsole(v, Style{Live: true, Width: width}, consoleOptions(c))
	return v, c, console, event.NewStream(c.now, redact.New(nil), console)
}

// look redraws and returns the screen.
func look(c *Console, v *terminal) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draw()
	return v.screen()
}

func TestLiveLine(t *testing.T) {
	t.Parallel()
	v, clock, console, stream := liveConsole(t, 80)
	defer console.Close()
	e := stream.Session("s1", "a.trail.yaml", nil)
	sent := func(after time.Duration, ev event.Event, want string) {
		t.Helper()
		e.Emit(ev)
		clock.pass(after)
		if diff := cmp.Diff(want, look(console, v)); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", ev.Type(), diff)
		}
	}
	sent(0, event.TrailStarted{File: "a.trail.yaml", Title: "checkout", Steps: 5}, "⠋ checkout — starting 0.0s\n")
	sent(2*time.Second, event.ServerStarted{Server: "./shop.ts", Tools: 2}, "⠋ checkout — started ./shop.ts 2.0s\n")
	sent(100*time.Millisecond, event.StepStarted{Index: 2, Of: 5, Text: "Create a user"}, "⠙ checkout — step 2/5 Create a user 0.1s\n")
	sent(1200*time.Millisecond, event.CallStarted{Call: "1", Tool: "generateTestUser"}, "⠸ checkout — step 2/5 Create a user · generateTestUser 1.2s\n")
	sent(0, event.CallProgress{Call: "1", Message: "half"}, "⠸ checkout — step 2/5 Create a user · generateTestUser: half 1.2s\n")
	sent(0, event.CallStarted{Call: "1.1", Tool: "lookUp"}, "⠸ checkout — step 2/5 Create a user · generateTestUser: half 1.2s\n")
	sent(0, event.CallFinished{Call: "1.1", Tool: "lookUp", OK: true}, "⠸ checkout — step 2/5 Create a user · generateTestUser: half 1.2s\n")
	sent(0, event.CallFinished{Call: "1", Tool: "generateTestUser", OK: true}, "⠸ checkout — step 2/5 Create a user 0.0s\n")
	sent(0, event.Log{Level: "warn", Source: "./shop.ts", Message: "wrote to stdout"},
		"warning: ./shop.ts: wrote to stdout\n⠸ checkout — step 2/5 Create a user 0.0s\n")
	sent(0, event.TrailFinished{File: "a.trail.yaml", Title: "checkout", Outcome: event.Passed, DurationMs: 1300},
		"warning: ./shop.ts: wrote to stdout\n✓ checkout (1.3s)\n")
}

func TestLiveLinesOfSeveralTrails(t *testing.T) {
	t.Parallel()
	v, _, console, stream := liveConsole(t, 80)
	for i := range 10 {
		file := fmt.Sprintf("%d.trail.yaml", i)
		stream.Session(fmt.Sprint("s", i), file, nil).Emit(event.TrailStarted{File: file})
	}
	stream.Session("again", "0.trail.yaml", nil).Emit(event.TrailStarted{File: "0.trail.yaml"})
	var want strings.Builder
	for i := range 8 {
		fmt.Fprintf(&want, "⠋ %d.trail.yaml — starting 0.0s\n", i+1)
	}
	want.WriteString("… 2 more\n")
	if diff := cmp.Diff(want.String(), look(console, v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	console.Close()
	console.Close()
	if got := v.screen(); got != "\n" {
		t.Errorf("Close left %q", got)
	}
}

func TestLiveLinesDoNotWrap(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 5, 20, 40, 79} {
		for _, text := range []string{"Benutzerin anlegen und anschließend", "日本語のとても長い手順の説明です、はい", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦 family", "a\nb\r\n\tc\x1b[31m d"} {
			v, _, console, stream := liveConsole(t, width)
			e := stream.Session("s1", "a", nil)
			e.Emit(event.TrailStarted{File: "a", Title: text})
			e.Emit(event.StepStarted{Index: 1, Of: 2, Text: text})
			e.Emit(event.CallStarted{Tool: text})
			e.Emit(event.CallProgress{Message: text})
			lines := strings.Split(strings.TrimSuffix(look(console, v), "\n"), "\n")
			if len(lines) != 1 || ansi.StringWidth(lines[0]) >= width {
				t.Errorf("width %d: %q", width, lines)
			}
			if width > 20 && !strings.HasSuffix(lines[0], " 0.0s") {
				t.Errorf("width %d: no duration in %q", width, lines[0])
			}
			console.Close()
		}
	}
}

func TestScreenAfterRun(t *testing.T) {
	t.Parallel()
	v, c := newTerminal(t, 80), newClock()
	console := newConsole(v, Style{Live: true, Width: 80}, consoleOptions(c))
	play(c, console)
	console.Close()
	golden(t, "console-live", []byte(v.screen()))
}

func TestEventsDoNotRedraw(t *testing.T) {
	t.Parallel()
	v, _, console, stream := liveConsole(t, 80)
	e := stream.Session("s1", "a", nil)
	e.Emit(event.TrailStarted{File: "a"})
	for range 10000 {
		e.Emit(event.CallStarted{Tool: "tool"})
		e.Emit(event.CallFinished{Tool: "tool", OK: true})
	}
	console.Close()
	// The ticker draws ten times a second, and ten thousand calls take far less than a hundred seconds.
	if v.writes > 1000 {
		t.Errorf("%d writes for 10000 calls", v.writes)
	}
}
