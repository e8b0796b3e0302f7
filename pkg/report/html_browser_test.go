package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// attack is text of a tool that tries to become part of the page.
const attack = "</script></style></textarea></pre><img src=x onerror=hacked=1><script>hacked=1</script>'\"><svg onload=hacked=1>" +
	"{{.Style}} ${hacked=1} javascript:hacked=1 \x1b[31mred\x1b]0;title\a \u202eback\u202c \u2066apart\u2069 <!-- ]]> &lt;b&gt; "

// attackShown is that text as the page shows it.
const attackShown = "</script></style></textarea></pre><img src=x onerror=hacked=1><script>hacked=1</script>'\"><svg onload=hacked=1>" +
	"{{.Style}} ${hacked=1} javascript:hacked=1 red ‹U+202E›back‹U+202C› ‹U+2066›apart‹U+2069› <!-- ]]> &lt;b&gt;"

// hostileRun emits a run with the attack in every text, and two pictures.
func hostileRun(t *testing.T, logs string, s *event.Stream) {
	t.Helper()
	writeFile(t, filepath.Join(logs, "hostile_1", "failure", "screen.png"), picture(t, 640, 400))
	writeFile(t, filepath.Join(logs, "hostile_1", "during.png"), picture(t, 320, 200))
	writeFile(t, filepath.Join(logs, "hostile_1", "failure", "tree.txt"), []byte(attack))
	writeFile(t, filepath.Join(logs, "hostile_1", "subprocess_stderr_evil.log"), []byte(attack))
	e := s.Session("hostile_1", "trails/hostile.trail.yaml", nil)
	e.Emit(event.TrailStarted{File: "trails/hostile.trail.yaml", Title: "Hostile " + attack, Target: attack, Driver: "playwright-native"})
	e.Emit(event.ServerStarted{Server: attack, Tools: 1})
	e.Emit(event.StepStarted{Index: 1, Of: 2, Text: attack, Kind: attack})
	e.Emit(event.CallStarted{Call: "1", Tool: attack, Source: attack, Args: map[string]any{attack: []any{attack}, "long": strings.Repeat("unbroken", 100)}})
	e.Emit(event.CallProgress{Call: "1", Message: attack})
	e.Emit(event.CallStarted{Call: "1.1", Tool: "inner", Args: map[string]any{}})
	e.Emit(event.Evidence{File: "during.png", Title: "second " + attack, Step: 1, Call: "1.1"})
	e.Emit(event.CallFinished{Call: "1.1", Tool: "inner", OK: true, Text: strings.Repeat("unbroken", 500)})
	e.Emit(event.CallFinished{Call: "1", Tool: attack, Error: attack, Kind: fault.ToolFailed})
	e.Emit(event.StepFinished{Index: 1, Outcome: event.Failed})
	e.Emit(event.Evidence{File: "failure/screen.png", Title: "first " + attack, Step: 1, Call: "1"})
	e.Emit(event.Evidence{File: "failure/tree.txt", Title: attack, Step: 1, Call: "1"})
	e.Log("warn", attack, attack, attack)
	e.Emit(event.TrailFinished{
		File: "trails/" + attack, Title: "Hostile " + attack, Outcome: event.Failed, Reason: attack, Hint: attack, Step: 1, StepText: attack, Tool: attack, Line: 3,
		Snippet: "    3 | " + attack, Attempts: 1, Artifacts: []string{attack},
	})
}

// found is the output of the script in the browser.
type found struct {
	Complaints, Requests, Titles, Opened, Failed, OnDevice, WithText []string
	Heading, Light, Dark, Text, NextPicture                          string
	Injected                                                         struct {
		Ran                     bool
		Images, Scripts, Styles int
	}
	WithNone, Picture, WithoutScript  []any
	Closed                            [2]bool
	ByKeyboard, ClosedAgain, Smuggled bool
	Narrow                            struct {
		Wider, Small int
		Beyond       []string
	}
}

func browse(t *testing.T, page string) found {
	t.Helper()
	dir := filepath.Join("..", "..", "testdata", "web", "playwright")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@playwright", "test")); err != nil {
		t.Fatalf("%v: run make deps", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, "node", "report.mjs", spawntest.Chromium(t), "file://"+filepath.ToSlash(page))
	node.Dir = dir
	node.Cancel = func() error { return node.Process.Signal(os.Interrupt) } // it closes its browser
	node.WaitDelay = 10 * time.Second
	var problems bytes.Buffer
	node.Stderr = &problems
	out, err := node.Output()
	var f found
	if err := errors.Join(err, json.Unmarshal(out, &f)); err != nil {
		t.Fatalf("node report.mjs: %v\n%s", err, &problems)
	}
	return f
}

func TestPageInBrowser(t *testing.T) {
	t.Parallel()
	logs := t.TempDir()
	h := NewHTML(logs)
	s := event.NewStream(newClock().now, nothingSecret(), h)
	s.Emit(event.RunStarted{Trails: 4})
	hostileRun(t, logs, s)
	devices := map[string]string{"Greets": "web:a", "Only on iOS": "web:b"}
	for title, outcome := range map[string]event.Outcome{"Greets": event.Passed, "Only on iOS": event.Skipped, "Breaks": event.Error} {
		passing := s.Session("", "trails/"+title, nil)
		passing.Emit(event.TrailStarted{File: "trails/" + title, Title: title, Device: devices[title]})
		passing.Emit(event.StepStarted{Index: 1, Of: 1, Text: "Says welcome back to " + title, Kind: "step"})
		passing.Emit(event.StepFinished{Index: 1, Outcome: outcome})
		passing.Emit(event.TrailFinished{File: "trails/" + title, Title: title, Device: devices[title], Outcome: outcome, Attempts: 1})
	}
	s.Emit(event.RunFinished{Failed: 1, ExitCode: 2})
	page := filepath.Join(t.TempDir(), "a page #1.html")
	writeFile(t, page, pageBytes(t, h))
	f := browse(t, strings.NewReplacer("#", "%23", " ", "%20").Replace(page))

	hostileTitle := "Hostile " + attackShown
	if len(f.Complaints)+len(f.Narrow.Beyond) > 0 {
		t.Errorf("the browser complains of %q, a narrow window cuts off %q", f.Complaints, f.Narrow.Beyond)
	}
	if len(f.Requests) != 3 { // the page itself, three times
		t.Errorf("the page asked for %q", f.Requests)
	}
	if in := f.Injected; in.Ran || in.Images > 0 || in.Scripts != 1 || in.Styles != 1 {
		t.Errorf("injected: %+v", in)
	}
	if f.Smuggled {
		t.Error("a script or a style that is not the page's own works")
	}
	if n := strings.Count(f.Text, attackShown); n < 15 {
		t.Errorf("the text of the attack is shown %d times in\n%s", n, f.Text)
	}
	if f.Heading != "2 of 4 trails did not pass" || f.Light == f.Dark || f.Light == "" {
		t.Errorf("heading %q, background %s, in the dark %s", f.Heading, f.Light, f.Dark)
	}
	sortStrings := cmp.Transformer("sorted", sorted)
	for what, got := range map[string][2]any{
		"all":                {[]string{hostileTitle, "Breaks", "Greets", "Only on iOS"}, f.Titles},
		"open at first":      {[]string{hostileTitle, "Breaks"}, f.Opened},
		"failed":             {[]string{hostileTitle}, f.Failed},
		"on a device":        {[]string{"Only on iOS"}, f.OnDevice},
		"with a text":        {[]string{"Breaks", "Greets", "Only on iOS"}, f.WithText},
		"with no such text":  {[]any{[]any{}, true, "0 of 4 trails"}, f.WithNone},
		"the picture":        {[]any{640.0, "first " + attackShown}, f.Picture},
		"the next picture":   {"second " + attackShown, f.NextPicture},
		"closed, with focus": {[2]bool{true, true}, f.Closed},
		"by keyboard":        {[2]bool{true, true}, [2]bool{f.ByKeyboard, f.ClosedAgain}},
		"at 400 pixels":      {[2]int{0, 0}, [2]int{f.Narrow.Wider, f.Narrow.Small}},
		"without script":     {[]any{false, 1.0, true}, f.WithoutScript},
	} {
		if diff := cmp.Diff(got[0], got[1], sortStrings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}
