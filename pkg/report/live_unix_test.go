//go:build unix

package report

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/redact"
)

// TestLiveLineOnTerminal uses the real clock, the ticker and a pseudo-terminal.
func TestLiveLineOnTerminal(t *testing.T) {
	t.Parallel()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	var mu sync.Mutex
	v := newTerminal(t, 60)
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			mu.Lock()
			_, _ = v.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return // the terminal's other end is closed
			}
		}
	}()
	until := func(what string, ok func(screen string) bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; <-time.After(10 * time.Millisecond) {
			mu.Lock()
			screen := v.screen()
			mu.Unlock()
			if ok(screen) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("no %s on the screen:\n%s", what, screen)
			}
		}
	}

	console := NewConsole(tty, Style{Live: true, Color: true, Width: 60}, ConsoleOptions{Now: time.Now})
	e := event.NewStream(time.Now, redact.New(nil), console).Session("s1", "a", nil)
	e.Emit(event.TrailStarted{File: "a", Title: "checkout"})
	e.Emit(event.StepStarted{Index: 1, Of: 2, Text: "a step"})
	for _, moment := range []string{"0.1s", "0.3s", "0.5s"} {
		until(moment, func(screen string) bool {
			took := strings.TrimSuffix(screen[strings.LastIndex(screen, " ")+1:], "\n")
			return strings.Count(screen, "\n") == 1 && strings.Contains(screen, " checkout — step 1/2 a step ") && took >= moment
		})
	}
	e.Emit(event.TrailFinished{File: "a", Title: "checkout", Outcome: event.Passed, DurationMs: 1300})
	until("result", func(screen string) bool { return screen == "✓ checkout (1.3s)\n" })
	console.Close()
	if err := tty.Close(); err != nil {
		t.Error(err)
	}
	<-read
}
