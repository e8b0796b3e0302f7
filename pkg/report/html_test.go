package report

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
)

func nothingSecret() event.Redactor { return redact.New(nil) }

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, width, height))
	m.Set(width/2, height/2, color.White)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// text returns the text of a page, without tags.
func text(page []byte) string {
	return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(page), " "))
}

func TestPage(t *testing.T) {
	t.Parallel()
	h := NewHTML(t.TempDir())
	play(newClock(), h)
	page := pageBytes(t, h)
	page = regexp.MustCompile(`(?s)<style>.*</style>`).ReplaceAll(page, []byte("<style>…</style>"))
	page = regexp.MustCompile(`(?s)<script>.*</script>`).ReplaceAll(page, []byte("<script>…</script>"))
	page = regexp.MustCompile(`sha256-.*?&#39;`).ReplaceAll(page, []byte("sha256-…&#39;"))
	golden(t, "page", page)
}

func pageBytes(t *testing.T, h *HTML) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := h.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPageOfSessionsEqualsPageOfRun writes the page of a run, and again from what the sessions left.
func TestPageOfSessionsEqualsPageOfRun(t *testing.T) {
	t.Parallel()
	logs := t.TempDir()
	of, from := NewHTML(logs), NewHTML("")
	file := filepath.Join(logs, "hostile_1", EventsFile)
	writeFile(t, file, nil) // and the folder
	log := NewSessionLog(file, func(err error) { t.Error(err) })
	hostileRun(t, logs, event.NewStream(newClock().now, nothingSecret(), of, log))
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := from.AddSession(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(pageBytes(t, of)), string(pageBytes(t, from))); diff != "" {
		t.Errorf("(-of the run +from its log)\n%s", diff)
	}
}

func TestPageIsBounded(t *testing.T) {
	t.Parallel()
	h := NewHTML(t.TempDir())
	s := event.NewStream(newClock().now, nothingSecret(), h).Session("s", "a.trail.yaml", nil)
	huge := strings.Repeat("long <b> ", 600_000)
	s.Emit(event.TrailStarted{File: "a.trail.yaml", Title: "A"})
	s.Emit(event.StepStarted{Index: 1, Of: 1})
	s.Emit(event.CallStarted{Call: "1", Tool: "t", Args: map[string]any{"x": huge}})
	for i := range maxInner + 7 {
		s.Emit(event.CallStarted{Call: fmt.Sprint("1.", i+1), Tool: "inner"})
		s.Emit(event.CallStarted{Call: fmt.Sprint("1.", i+1, ".1"), Tool: "innermost"})
	}
	s.Emit(event.CallFinished{Call: "1", Tool: "t", OK: true, Text: huge})
	for range maxLog + 5 {
		s.Log("info", "x", "line", "")
	}
	for i := range maxFiles + 3 {
		s.Emit(event.Evidence{File: fmt.Sprint(i, ".png")})
	}
	s.Emit(event.TrailFinished{File: "a.trail.yaml", Title: "A", Outcome: event.Failed, Reason: huge, Snippet: huge, StepText: huge, Attempts: 1})
	page := pageBytes(t, h)
	if len(page) > 3<<20 {
		t.Errorf("the page has %s", bytesText(int64(len(page))))
	}
	for _, want := range []string{
		"The first 16 KB of the 64 KB in the session's events.ndjson.", "more calls are left out here", "5 more lines are in the session's events.ndjson",
		"3 more kept files are not shown",
	} {
		if !strings.Contains(text(page), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestFullPageShowsFailedCalls checks which calls and steps a page has beyond its limits: those that failed, those within
// which one failed, and those that did not end.
func TestFullPageShowsFailedCalls(t *testing.T) {
	t.Parallel()
	h := NewHTML(t.TempDir())
	h.maxCalls, h.maxSteps = 3, 2
	s := event.NewStream(newClock().now, nothingSecret(), h).Session("s", "a.trail.yaml", nil)
	s.Emit(event.TrailStarted{File: "a.trail.yaml", Title: "A", Steps: 7})
	n := 0
	call := func(tool string, ok, optional, nested bool) {
		n++
		id := fmt.Sprint(n)
		s.Emit(event.CallStarted{Call: id, Tool: tool})
		if nested {
			s.Emit(event.CallStarted{Call: id + ".1", Tool: "inner"})
			s.Emit(event.CallFinished{Call: id + ".1", Tool: "inner", Error: "inner reason"})
		}
		s.Emit(event.Evidence{File: tool + ".txt", Call: id})
		s.Emit(event.CallFinished{Call: id, Tool: tool, OK: ok, Optional: optional})
	}
	for i := range 6 {
		s.Emit(event.StepStarted{Index: i + 1, Of: 7, Text: fmt.Sprint("step ", i+1), Kind: "step"})
		call(fmt.Sprint("passed", i+1, "a"), true, false, false)
		call(fmt.Sprint("passed", i+1, "b"), true, false, false)
		if i == 4 {
			call("optional", false, true, false)
			call("caught", true, false, true)
			call("broken", false, false, false)
		}
		s.Emit(event.StepFinished{Index: i + 1, Outcome: event.Passed})
	}
	s.Emit(event.CallStarted{Call: "99", Tool: "endless"})
	s.Emit(event.TrailFinished{File: "a.trail.yaml", Title: "A", Outcome: event.Failed, Attempts: 1})
	page := text(pageBytes(t, h))
	for _, want := range []string{
		"passed1a", "passed2a", "caught", "inner reason", "broken", "endless", "step 1", "step 2", "step 5", "1 step was not reached",
		"1 more call that did not fail is left out here", "3 more calls that did not fail are left out here",
		"3 more steps that passed are left out", "10 more kept files are not shown",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	for _, left := range []string{"passed2b", "passed3", "passed4", "passed5", "passed6", "optional", "step 4"} {
		if strings.Contains(page, left) {
			t.Errorf("the page has %q", left)
		}
	}
}

func TestFullPageTruncatesTextButNotErrors(t *testing.T) {
	t.Parallel()
	h := NewHTML("")
	h.text = maxAllText + 1
	if got := h.excerpt(strings.Repeat("x", 1000), maxText); len(got.Text) > lessText+4 || got.Note == "" {
		t.Errorf("kept %d bytes, %q", len(got.Text), got.Note)
	}
	if got := h.excerpt(strings.Repeat("x", 1000), maxReason); len(got.Text) != 1000 || got.Note != "" {
		t.Errorf("kept %d bytes of a failure, %q", len(got.Text), got.Note)
	}
}

func TestPageShowsOnlyFilesOfSessionFolder(t *testing.T) {
	t.Parallel()
	logs := t.TempDir()
	dir := filepath.Join(logs, "s")
	writeFile(t, filepath.Join(logs, "secret.txt"), []byte("not yours"))
	writeFile(t, filepath.Join(dir, "a.png"), picture(t, 3, 2))
	writeFile(t, filepath.Join(dir, "a.txt"), []byte("a text"))
	writeFile(t, filepath.Join(dir, "a.bin"), []byte("\x00\x01binary"))
	writeFile(t, filepath.Join(dir, "page.html"), []byte("<script>hacked</script>"))
	writeFile(t, filepath.Join(dir, "large.png"), append(picture(t, 3, 2), make([]byte, maxPicture)...))
	writeFile(t, filepath.Join(dir, "large.txt"), []byte(strings.Repeat("begin ", 20_000)))
	for _, log := range []string{"subprocess_stderr_a.log", "device.log"} {
		writeFile(t, filepath.Join(dir, log), []byte(strings.Repeat("x", maxServerLog)+"the end"))
	}
	if err := os.Symlink(filepath.Join(logs, "secret.txt"), filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	h := NewHTML(logs)
	for name, tt := range map[string]struct{ missing, text, note, link string }{
		"a.png":                   {},
		"a.txt":                   {text: "a text"},
		"a.bin":                   {missing: "neither a picture nor a text", link: "AAFiaW5hcnk="},
		"page.html":               {text: "<script>hacked</script>"},
		"large.png":               {missing: "a picture that is too large for this page"},
		"large.txt":               {text: strings.Repeat("begin ", 20_000)[:maxServerLog], note: "The first 64 KB of 117 KB.", link: "…"},
		"device.log":              {text: strings.Repeat("x", maxServerLog-7) + "the end", note: "The last 64 KB of 64 KB.", link: "…"},
		"subprocess_stderr_a.log": {text: strings.Repeat("x", maxServerLog-7) + "the end", note: "The last 64 KB of 64 KB.", link: "…"},
		"../secret.txt":           {missing: "the file is not there, or cannot be read"},
		"link.txt":                {missing: "the file is not there, or cannot be read"},
		"/etc/hostname":           {missing: "the file is not there, or cannot be read"},
		"gone.png":                {missing: "the file is not there, or cannot be read"},
		".":                       {missing: "this is not a file"},
		"":                        {missing: "the file is not there, or cannot be read"},
	} {
		got := h.load(dir, event.Evidence{File: name})
		if got.Missing != tt.missing || got.Text.Text != tt.text || got.Text.Note != tt.note || (name == "a.png") != (got.Picture != "") {
			t.Errorf("%q: missing %q, text %.80q, note %q, picture %.20q", name, got.Missing, got.Text.Text, got.Text.Note, got.Picture)
		}
		if link, ok := strings.CutPrefix(got.Link, "data:application/octet-stream;base64,"); ok != (tt.link != "") || tt.link != "…" && link != tt.link {
			t.Errorf("%q: link %.80q, want %s", name, got.Link, tt.link)
		}
	}
	if got := h.load(dir, event.Evidence{File: "a.txt", HasSecret: true}); got.Missing == "" || got.Text.Text != "" || got.Link != "" {
		t.Errorf("a file with a secret: %+v", got)
	}
	if got := h.load("", event.Evidence{File: "a.txt"}); got.Missing == "" {
		t.Error("a session without a folder has a file")
	}
	h.files = maxAllFiles + 1
	if got := h.load(dir, event.Evidence{File: "a.txt"}); got.Missing != "not shown, because the page is full" || got.Size != "6 bytes" {
		t.Errorf("a full page: %+v", got)
	}
}

func TestAttemptsAreAssignedToTheirTrail(t *testing.T) {
	t.Parallel()
	h := NewHTML("")
	s := event.NewStream(newClock().now, nothingSecret(), h)
	begin := func(session string) *event.Emitter {
		e := s.Session(session, "a.trail.yaml", nil)
		e.Emit(event.TrailStarted{File: "a.trail.yaml", Title: "A"})
		return e
	}
	begin("killed")
	begin("first")
	begin("second")
	begin("third").Emit(event.TrailFinished{File: "a.trail.yaml", Title: "A", Outcome: event.Passed, Flaky: true, Attempts: 3})
	var got []string
	for _, a := range h.page().trails {
		for _, e := range a.Case.Earlier {
			got = append(got, a.Session+" after "+e.Session)
		}
		got = append(got, a.Session+" "+a.Word())
	}
	want := []string{"killed did not end", "third after first", "third after second", "third flaky"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAttemptsOfKilledRunAreOneTrail(t *testing.T) {
	t.Parallel()
	h := NewHTML("")
	s := event.NewStream(newClock().now, nothingSecret(), h)
	s.Emit(event.RunStarted{Trails: 3})
	for _, session := range []string{"first", "second", "last"} {
		s.Session(session, "a.trail.yaml", nil).Emit(event.TrailStarted{File: "a.trail.yaml", Title: "A"})
	}
	p := h.page()
	if len(p.trails) != 1 || p.Headline() != "The trail did not pass" || !slices.Contains(p.Facts(), "2 not run") {
		t.Fatalf("%d trails: %s, %q", len(p.trails), p.Headline(), p.Facts())
	}
	var got []string
	for _, e := range p.trails[0].Case.Earlier {
		got = append(got, e.Session)
	}
	if diff := cmp.Diff([]string{"first", "second"}, got); diff != "" || p.trails[0].Session != "last" {
		t.Errorf("earlier attempts (-want +got)\n%s", diff)
	}
	if page := text(pageBytes(t, h)); !strings.Contains(page, "attempt 3") || !strings.Contains(page, "Attempt 2 of 3, which did not pass") {
		t.Errorf("the page does not number the attempts\n%s", page)
	}
	s.Emit(event.RunStarted{Trails: 1})
	s.Session("other", "a.trail.yaml", nil).Emit(event.TrailStarted{File: "a.trail.yaml", Title: "A"})
	if n := len(h.page().trails); n != 2 {
		t.Errorf("%d trails after another run, want 2", n)
	}
}

func TestPageOfKilledSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var lines []byte
	s := event.NewStream(newClock().now, nothingSecret(), event.HandlerFunc(func(r event.Record) { lines = append(lines, recordLine(r, MaxLine)...) }))
	e := s.Session("s", "a.trail.yaml", nil)
	e.Emit(event.TrailStarted{File: "a.trail.yaml", Title: "A"})
	e.Emit(event.StepStarted{Index: 1, Of: 4, Text: "First"})
	e.Emit(event.CallStarted{Call: "1", Tool: "slow"})
	lines = append(lines, "\r\n{\"v\":1,\"type\":\"moon.rose\",\"time\":\"2026-11-20T12:00:00Z\"}\n\nnoise\n{\"v\":1,\"type\":\"call.fin"...)
	writeFile(t, filepath.Join(dir, EventsFile), lines)
	h := NewHTML("")
	if err := h.AddSession(dir); err != nil {
		t.Fatal(err)
	}
	got := text(pageBytes(t, h))
	for _, want := range []string{"The trail did not pass", "did not end", "slow", "3 steps were not reached", "2 lines of the session's events.ndjson could not be read"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestPageOfLiveSessions has sessions without a trail, which neither pass nor fail, beside trails and alone.
func TestPageOfLiveSessions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		outcome event.Outcome // of the trail, if there is one
		want    []string
	}{
		"alone":                   {"", []string{"1 session", "Sessions  1", "agent_1", "look", "all  1"}},
		"beside one that passed":  {event.Passed, []string{"The trail passed", "Passed  1", "Sessions  1", "agent_1", "all  2"}},
		"beside one that did not": {event.Failed, []string{"The trail did not pass", "Did not pass  1", "Sessions  1", "agent_1", "all  2"}},
	} {
		h := NewHTML("")
		playAgent(newClock(), h)
		if tt.outcome != "" {
			event.NewStream(newClock().now, nothingSecret(), h).Session("", "a.trail.yaml", nil).Emit(event.TrailFinished{File: "a.trail.yaml", Outcome: tt.outcome})
		}
		page := string(pageBytes(t, h))
		for _, want := range tt.want {
			if !strings.Contains(text([]byte(page)), want) {
				t.Errorf("%s: no %q", name, want)
			}
		}
		if strings.Contains(page, "did not end") || strings.Contains(page, "<h3></h3>") || !strings.Contains(page, "<script>") {
			t.Errorf("%s: a session without a trail is not one of its own", name)
		}
		if p := h.page(); p.NoneFailed() != (tt.outcome != event.Failed) {
			t.Errorf("%s: none failed: %v", name, p.NoneFailed())
		}
	}
}

func TestAddSessionErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		content *string
		want    string
	}{
		"no log":      {nil, "is not a session's folder: it has no events.ndjson"},
		"empty":       {new(""), "has no events of a trail"},
		"other lines": {new("{\"a\":1}\nx\n"), "has no events of a trail"},
	} {
		dir := t.TempDir()
		if tt.content != nil {
			writeFile(t, filepath.Join(dir, EventsFile), []byte(*tt.content))
		}
		err := NewHTML("").AddSession(dir)
		if f := fault.As(err); f == nil || f.Kind != fault.Misuse || f.Hint == "" || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q and a hint", name, err, tt.want)
		}
	}
}

func TestHeadlines(t *testing.T) {
	t.Parallel()
	for want, outcomes := range map[string]string{
		"No trails": "", "The trail passed": "p", "The trail did not pass": "f", "All 2 trails passed": "pp", "1 of 2 trails passed": "ps", "0 of 1 trails passed": "s",
		"2 of 3 trails did not pass": "fep", "1 of 2 trails did not pass": "fs",
	} {
		h := NewHTML("")
		s := event.NewStream(newClock().now, nothingSecret(), h)
		for i, o := range outcomes {
			outcome := map[rune]event.Outcome{'p': event.Passed, 'f': event.Failed, 'e': event.Error, 's': event.Skipped}[o]
			file := fmt.Sprint(i)
			s.Session("", file, nil).Emit(event.TrailFinished{File: file, Outcome: outcome})
		}
		if got := h.page().Headline(); got != want {
			t.Errorf("%q: %q, want %q", outcomes, got, want)
		}
	}
	for want, tt := range map[string]struct {
		planned, passed, code int
		ended, good, dry      bool
	}{
		"All 2 trails passed":                          {2, 2, 0, true, true, false},
		"The run failed, although all 2 trails passed": {2, 2, 1, true, false, false},
		"The run failed, although the trail passed":    {1, 1, 1, true, false, false},
		"2 passed, 7 not run":                          {9, 2, 2, true, false, false},
		"1 passed, 1 not run":                          {2, 1, 0, false, false, false},
		"The trail passed":                             {1, 1, 0, false, true, false},
		"2 trails were checked (dry run)":              {2, 2, 0, true, true, true},
		"1 trail was checked (dry run)":                {1, 1, 0, true, true, true},
	} {
		h := NewHTML("")
		s := event.NewStream(newClock().now, nothingSecret(), h)
		s.Emit(event.RunStarted{Trails: tt.planned, DryRun: tt.dry})
		for i := range tt.passed {
			file := fmt.Sprint(i)
			s.Session("", file, nil).Emit(event.TrailFinished{File: file, Outcome: event.Passed})
		}
		if tt.ended {
			s.Emit(event.RunFinished{ExitCode: tt.code})
		}
		if p := h.page(); p.Headline() != want || p.NoneFailed() != tt.good {
			t.Errorf("%q, good %v, want %q", p.Headline(), p.NoneFailed(), want)
		}
	}
}

func TestSnippetOnPage(t *testing.T) {
	t.Parallel()
	const snippet = "    9 |       - tap:\n> 10 |           text: a | b\n   11 |\n      |         ^"
	a := &pageCase{Case: &Case{Finished: &event.TrailFinished{Line: 10, Snippet: snippet}}}
	want := []snippetLine{{"9", "- tap:", false}, {"10", "    text: a | b", true}, {"11", "", false}}
	if diff := cmp.Diff(want, a.Snippet()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, nothing := range []string{"", "\n", "no line"} {
		a.Finished.Snippet = nothing
		if got := a.Snippet(); got != nil {
			t.Errorf("%q: %v", nothing, got)
		}
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	for want, args := range map[string]map[string]any{
		"": nil,
		`list: [1, true, null], selector: {web: {role: button "Save"}}, text: a b`: {
			"text": "a\nb", "selector": map[string]any{"web": map[string]any{"role": `button "Save"`}}, "list": []any{1, true, nil},
		},
		"x: " + strings.Repeat("y", previewColumns-4) + "…": {"x": strings.Repeat("y", 9000), "y": "left out"},
	} {
		if got := preview(args); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestBars(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return newClock().t.Add(time.Duration(ms) * time.Millisecond) }
	a := &pageCase{Case: &Case{From: at(0), To: at(1000)}}
	for _, tt := range []struct {
		from, to time.Time
		want     bar
	}{
		{at(0), at(1000), bar{0, 1000}},
		{at(250), at(500), bar{250, 250}},
		{at(500), time.Time{}, bar{500, 500}},
		{at(1000), at(1000), bar{992, 8}},
		{at(-5), at(5000), bar{0, 1000}},
	} {
		if got := a.bar(tt.from, tt.to); got != tt.want {
			t.Errorf("%v to %v: %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
}

func FuzzAddSession(f *testing.F) {
	var lines []byte
	play(newClock(), event.HandlerFunc(func(r event.Record) { lines = append(lines, recordLine(r, MaxLine)...) }))
	f.Add(lines)
	f.Add([]byte(`{"v":1,"type":"call.started","time":"0000-01-01T00:00:00Z","call":"...","args":null}`))
	f.Add([]byte(`{"v":1,"type":"trail.finished","time":"9999-01-01T00:00:00Z","outcome":"new","attempts":-1,"line":-9,"snippet":"-9|"}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, log []byte) {
		writeFile(t, filepath.Join(dir, EventsFile), log)
		h := NewHTML("")
		if h.AddSession(dir) == nil && !bytes.HasSuffix(pageBytes(t, h), []byte("</html>\n")) {
			t.Error("the page has no end")
		}
	})
}

func TestPageShowsFilesOfCalls(t *testing.T) {
	t.Parallel()
	logs := t.TempDir()
	writeFile(t, filepath.Join(logs, "s", "calls", "shot.png"), picture(t, 3, 2))
	writeFile(t, filepath.Join(logs, "s", "calls", "data.bin"), []byte("\x00\x01binary"))
	writeFile(t, filepath.Join(logs, "s", "calls", "result.txt"), []byte(strings.Repeat("all of it ", 10_000)))
	h := NewHTML(logs)
	e := event.NewStream(newClock().now, nothingSecret(), h).Session("s", "a.trail.yaml", nil)
	e.Emit(event.TrailStarted{File: "a.trail.yaml", Title: "A"})
	e.Emit(event.StepStarted{Index: 1, Of: 1, Text: "look", Kind: "step"})
	for _, call := range []string{"1", "1.1"} {
		e.Emit(event.CallStarted{Call: call, Tool: "look" + call})
		for _, file := range []string{"calls/shot.png", "calls/data.bin", "calls/result.txt"} {
			e.Emit(event.Evidence{File: file, Title: call + " " + file, Step: 1, Call: call})
		}
	}
	e.Emit(event.CallFinished{Call: "1.1", Tool: "look1.1", OK: true})
	e.Emit(event.CallFinished{Call: "1", Tool: "look1", OK: true})
	page := string(pageBytes(t, h))
	outer, inner := strings.Index(page, ">look1<"), strings.Index(page, ">look1.1<")
	if outer < 0 || inner < outer {
		t.Fatalf("calls at %d and %d", outer, inner)
	}
	for call, part := range map[string]string{"1": page[outer:inner], "1.1": page[inner:]} {
		for _, want := range []string{
			`<img src="data:image/png;base64,`, "<figcaption>" + call + " calls/shot.png</figcaption>",
			`<p class="file">` + call + ` calls/data.bin <a href="data:application/octet-stream;base64,AAFiaW5hcnk=" download="data.bin">` +
				`calls/data.bin</a> <span class="dim">8 bytes</span></p>`,
			call + ` calls/result.txt <span class="dim">calls/result.txt, 98 KB</span>`, "The first 64 KB of 98 KB.", `download="result.txt">`,
		} {
			if strings.Count(part, want) != 1 {
				t.Errorf("call %s: %d times %s", call, strings.Count(part, want), want)
			}
		}
	}
}
