package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/redact"
)

const canary = `c4nary "<pass>"/+&`

// canaryForms are the encodings of the specification, section 8.4, and the one with colours that Clean removes.
func canaryForms(t *testing.T) map[string]string {
	t.Helper()
	quoted, err := json.Marshal(canary)
	if err != nil {
		t.Fatal(err)
	}
	basic := base64.StdEncoding.EncodeToString([]byte("user:" + canary + ":more"))
	return map[string]string{
		"plain": canary, "JSON": strings.Trim(string(quoted), `"`), "query": url.QueryEscape(canary), "path": url.PathEscape(canary),
		"base64": base64.StdEncoding.EncodeToString([]byte(canary)), "base64url": base64.RawURLEncoding.EncodeToString([]byte(canary)),
		"base64 of more": basic, "coloured": strings.ReplaceAll(canary, "4", "\x1b[1m4\x1b[0m"),
	}
}

// TestReportsContainNoSecret puts every encoding of a secret into every text of every event, and searches what each
// renderer wrote.
func TestReportsContainNoSecret(t *testing.T) {
	t.Parallel()
	forms := canaryForms(t)
	var text strings.Builder
	for _, form := range forms {
		text.WriteString(form + "\n")
	}
	x := text.String()
	clock := newClock()
	file := filepath.Join(t.TempDir(), "events.ndjson")
	log := NewSessionLog(file, func(err error) { t.Error(err) })
	var plain, live, lines, xml, page bytes.Buffer
	verbose := ConsoleOptions{Now: clock.now, Verbose: true, LogsDir: "logs"}
	console, liveConsole := newConsole(&plain, Style{}, verbose), newConsole(&live, Style{Live: true, Color: true, Width: 5000}, verbose)
	junit, pages := NewJUnit(), NewHTML(t.TempDir())
	s := event.NewStream(clock.now, redact.New(map[string]string{"TOKEN": canary}), console, liveConsole, NewJSONLines(&lines), log, junit, pages)
	e := s.Session("session "+x, "trail "+x, nil)
	for _, ev := range []event.Event{
		event.RunStarted{},
		event.TrailStarted{File: x, Title: x, Target: x},
		event.ServerStarted{Server: x},
		event.StepStarted{Text: x},
		event.CallStarted{Call: "1", Tool: x, Source: x, Args: map[string]any{x: []any{x, map[string]any{"deep": x}}}},
		event.CallProgress{Call: "1", Message: x},
		event.CallFinished{Call: "1", Tool: x, OK: true, Text: x, Notes: []string{x}},
		event.CallFinished{Call: "2", Tool: x, Error: x},
		event.StepFinished{},
		event.Evidence{File: x, Title: x},
		event.DeviceNoted{Kind: "dialog", Text: x},
		event.Log{Level: "warn", Source: x, Message: x, Hint: x},
	} {
		e.Emit(ev)
		liveConsole.mu.Lock()
		liveConsole.draw()
		liveConsole.mu.Unlock()
	}
	for _, outcome := range []event.Outcome{event.Passed, event.Failed, event.Error, event.Skipped} {
		e.Emit(event.TrailFinished{File: x, Title: x, Outcome: outcome, Flaky: true, Reason: x, Hint: x, StepText: x, Step: 1, Tool: x, Line: 1, Snippet: x + "    1 | " + x, Artifacts: []string{x}})
	}
	s.Emit(event.RunFinished{})
	console.Close()
	liveConsole.Close()
	if err := junit.Write(&xml); err != nil {
		t.Fatal(err)
	}
	if err := pages.Write(&page); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	logged, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]string{
		"console": plain.String(), "live lines": live.String(), "JSON lines": lines.String(), "JUnit": xml.String(), "session log": string(logged), "page": page.String(),
	} {
		if strings.Count(out, "{{TOKEN}}") < len(forms) {
			t.Errorf("%s: the placeholder is missing, so nothing was shown:\n%s", name, out)
		}
		for form, secret := range forms {
			for _, shown := range []string{out, html.UnescapeString(out), Clean(out)} {
				if strings.Contains(shown, secret) || strings.Contains(shown, "c4nary") {
					t.Errorf("%s: the %s form is left", name, form)
				}
			}
		}
	}
}
