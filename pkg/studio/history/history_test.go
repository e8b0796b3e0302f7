package history

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

const (
	png  = "\x89PNG\r\n\x1a\n"
	jpeg = "\xff\xd8\xff\xe0"
)

// logs makes a folder of logs with files, by their paths.
func logs(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// events returns the log of a session: each argument is the type of an event and its fields, without the braces.
func events(session string, all ...string) string {
	var lines strings.Builder
	for i, fields := range all {
		name, rest, _ := strings.Cut(fields, " ")
		fmt.Fprintf(&lines, `{"v":1,"type":%q,"time":"2026-11-26T09:00:%02dZ","seq":%d,"session":%q,%s}`+"\n", name, i, i+1, session, strings.TrimSpace(rest))
	}
	return lines.String()
}

const (
	started  = `trail.started "file":"trails/a.trail.yaml","title":"Buy tea","driver":"playwright-native","device":"desktop"`
	step1    = `step.started "index":1,"of":2,"text":"Open","kind":"step"`
	step1End = `step.finished "index":1,"outcome":"passed"`
	step2    = `step.started "index":2,"of":2,"text":"Pay","kind":"step"`
	passed   = `trail.finished "file":"trails/a.trail.yaml","title":"Buy tea","outcome":"passed"`
	failed   = `trail.finished "file":"trails/a.trail.yaml","title":"Buy tea","outcome":"failed","reason":"no button","hint":"look again","step":2,"tool":"tap"`
)

func call(id, tool string) string {
	return fmt.Sprintf(`call.started "call":%q,"tool":%q,"source":"web","args":{"text":%q}`, id, tool, "Pay "+id)
}

func done(id string, ok bool, more string) string {
	return fmt.Sprintf(`call.finished "call":%q,"tool":"tap","ok":%v,"text":"done","error":"no button","durationMs":7%s`, id, ok, more)
}

func evidence(file, more string) string {
	return fmt.Sprintf(`evidence "file":%q,"title":"x","step":1%s`, file, more)
}

func TestList(t *testing.T) {
	t.Parallel()
	killed := events("c", started, step1) + `{"v":1,"type":"call.st`
	dir := logs(t, map[string]string{
		"a_20261126T090000Z_0a0a0a0a/events.ndjson":           strings.ReplaceAll(events("a", started, passed), "09:00", "08:00"),
		"ci/run 7/b_20261126T090000Z_0b0b0b0b/events.ndjson":  strings.ReplaceAll(events("b", started, failed), "09:00", "08:30"),
		"c_20261126T090000Z_0c0c0c0c/events.ndjson":           killed,
		"session-s1_20261126T090000Z_0d0d0d0d/events.ndjson":  strings.ReplaceAll(events("d", step1), "09:00", "07:00"),
		"empty/events.ndjson":                                 "",
		"noise/events.ndjson":                                 strings.Repeat("<html>\n", 1000),
		"a/b/c/d/e/f/events.ndjson":                           events("deep", started),
		"durations.json":                                      "{}",
		"c_20261126T090000Z_0c0c0c0c/trace/sub/events.ndjson": events("inner", started),
	})
	if err := os.Symlink("a_20261126T090000Z_0a0a0a0a", filepath.Join(dir, "latest")); err != nil {
		t.Log(err) // of Windows
	}
	at := func(hour, minute int) time.Time { return time.Date(2026, 11, 26, hour, minute, 0, 0, time.UTC) }
	want := []Summary{
		{"c_20261126T090000Z_0c0c0c0c", "Buy tea", Unfinished, at(9, 0), "desktop"},
		{"ci/run 7/b_20261126T090000Z_0b0b0b0b", "Buy tea", "failed", at(8, 30), "desktop"},
		{"a_20261126T090000Z_0a0a0a0a", "Buy tea", "passed", at(8, 0), "desktop"},
		{"session-s1_20261126T090000Z_0d0d0d0d", "session-s1", "", at(7, 0), ""},
	}
	if diff := cmp.Diff(want, New(dir).List()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := New(filepath.Join(dir, "none")).List(); len(got) != 0 || got == nil {
		t.Error(got)
	}
}

// TestListIsBounded lists more sessions than a page shows, with logs that are much longer than what is read of them.
func TestListIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`{"v":1,"type":"log","time":"2026-11-26T09:00:00Z","seq":1,"level":"info","source":"a","message":"b"}`+"\n", 3500)
	files := map[string]string{}
	for i := range maxListed + 5 {
		files[fmt.Sprintf("s%03d/events.ndjson", i)] = events("s", started) + long + events("s", failed)
	}
	list := New(logs(t, files)).List()
	if len(list) != maxListed || list[0].Outcome != "failed" || list[0].Title != "Buy tea" {
		t.Errorf("%d sessions, %+v", len(list), list[0])
	}
}

// shown is what tests compare of moments.
func shown(p *Past) []string {
	var all []string
	for _, m := range p.Moments {
		all = append(all, fmt.Sprintf("%s %s %s: %s > %s %s", m.Call, m.Tool, m.Outcome, m.Before, m.After, m.NoPicture))
	}
	return all
}

func open(t *testing.T, files map[string]string) *Past {
	t.Helper()
	p, err := New(logs(t, files)).Open("s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(p); err != nil {
		t.Error(err)
	}
	return p
}

func TestOpenTraced(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"s/events.ndjson": events("s", started, `log "level":"debug","source":"x","message":"runs"`, `log "level":"warn","source":"web","message":"slow"`,
			step1, call("1", "start"), done("1", true, ""), call("2", "tap"), done("2", true, ""), step1End,
			step2, call("3", "buy"), call("3.1", "tap"), done("3.1", true, ""), done("3", true, ""), call("4", "tap"), done("4", false, `,"optional":true`),
			call("5", "tap"), done("5", false, ""), evidence("failure/screenshot.png", ""), evidence("failure/screen.txt", ""), evidence("trace/trace.json", ""), failed),
		"s/trace/trace.json": `{"calls":[
			{"call":"2","url":"http://shop/","after":"001.jpg","tree":"screen-1.txt","requests":["GET /"],"console":["hello"],"width":1280,"height":800},
			{"call":"3.1","before":"001.jpg","after":"002.jpg","touched":{"x":3,"y":4}},
			{"call":"4","before":"002.jpg","after":"002.jpg"},
			{"call":"5","before":"002.jpg","after":"../../secret.png","noPicture":"the page shows a secret","tree":"..\\screen.txt"}],
			"removedPictures":2}`,
	})
	want := []string{
		"1.1 start passed:  >  the call did not use the device",
		"1.2 tap passed:  > trace/001.jpg ",
		"2.1 buy passed: trace/001.jpg > trace/002.jpg ",
		"2.1.1 tap passed: trace/001.jpg > trace/002.jpg ",
		"2.2 tap failed: trace/002.jpg > trace/002.jpg ",
		"2.3 tap failed: trace/002.jpg > failure/screenshot.png ",
	}
	if diff := cmp.Diff(want, shown(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m := p.Moments[1]
	if m.URL != "http://shop/" || m.Tree != "trace/screen-1.txt" || len(m.Requests) != 1 || len(m.Console) != 1 || m.Width != 1280 || m.Touched != nil ||
		m.Brief != `tap "Pay 2"` || m.Message != "done" || m.DurationMs != 7 || m.StepText != "Open" || m.Step != "1" {
		t.Errorf("%+v", m)
	}
	if touched := p.Moments[3].Touched; touched == nil || touched.X != 3 || touched.Y != 4 {
		t.Errorf("touched %+v", touched)
	}
	if p.Failed != 5 || p.Moments[5].Message != "no button" || p.Moments[5].Tree != "failure/screen.txt" || !p.Moments[4].Optional {
		t.Errorf("%d %+v", p.Failed, p.Moments[5])
	}
	if p.Outcome != "failed" || p.Reason != "no button" || p.Hint != "look again" || p.File != "trails/a.trail.yaml" || p.Title != "Buy tea" || p.Device != "desktop" {
		t.Errorf("%+v", p)
	}
	if len(p.Log) != 1 || p.Log[0].Text != "web: slow" || p.Log[0].Level != "warn" || len(p.Notes) != 1 || !strings.HasPrefix(p.Notes[0], "2 pictures") {
		t.Errorf("%+v %q", p.Log, p.Notes)
	}
}

// TestOpenWithoutTrace opens a session that kept a picture after each step, one of them with a secret, and was killed.
func TestOpenWithoutTrace(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{"s/events.ndjson": events("s", started, step1, call("1", "tap"), done("1", true, ""), call("2", "tap"), done("2", true, ""),
		step1End, evidence("steps/01/screenshot.png", ""), step2, call("3", "tap"), done("3", true, ""),
		`evidence "file":"steps/02/screenshot.png","title":"x","step":2,"hasSecret":true`, call("4", "tap"), `log "level":"info","source":"x","message":"m"`) + "{"})
	want := []string{
		"1.1 tap passed:  >  the session kept no picture of this call",
		"1.2 tap passed:  > steps/01/screenshot.png ",
		"2.1 tap passed: steps/01/screenshot.png >  the session kept no picture of this call",
		"2.2 tap : steps/01/screenshot.png >  the picture is not shown, because a secret was found in it",
	}
	if diff := cmp.Diff(want, shown(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if p.Outcome != Unfinished || p.Failed != -1 || len(p.Notes) != 1 || p.Notes[0] != "1 line of the log could not be read" {
		t.Errorf("%q %d %q", p.Outcome, p.Failed, p.Notes)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := logs(t, map[string]string{"logs/s/events.ndjson": events("s", started), "secret/events.ndjson": events("s", started), "logs/empty/events.ndjson": ""})
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(dir, "logs", "link")); err != nil {
		t.Skip(err)
	}
	h := New(filepath.Join(dir, "logs"))
	for _, session := range []string{"", ".", "..", "../secret", "/etc", filepath.Join(dir, "secret"), "link", "none", "s/events.ndjson", "s/../../secret", "empty", "a\x00b"} {
		if p, err := h.Open(session); fault.KindOf(err) != fault.Misuse {
			t.Errorf("%q: %v, %v", session, p, err)
		}
	}
	if _, err := h.Open("s"); err != nil {
		t.Error(err)
	}
	if _, err := New(filepath.Join(dir, "none")).Open("s"); fault.KindOf(err) != fault.Misuse {
		t.Error(err)
	}
}

func TestServeFile(t *testing.T) {
	t.Parallel()
	const markup = "<!doctype html><script>alert(1)</script>"
	dir := logs(t, map[string]string{
		"s/events.ndjson": events("s", started, step1, call("1", "tap"), done("1", true, ""), evidence("trace/trace.json", ""), step1End,
			evidence("steps/01/screenshot.png", `,"hasSecret":true`), evidence("steps/01/page.html", ""),
			step2, call("2", "tap"), done("2", true, ""), `evidence "file":"markup.png","title":"x","step":2,"call":"2"`,
			call("3", "tap"), done("3", true, ""), `evidence "file":"../out.png","title":"x","step":2,"call":"3"`,
			call("4", "tap"), done("4", true, ""), `evidence "file":"folder.png","title":"x","step":2,"call":"4"`, failed),
		"s/trace/trace.json":        `{"calls":[{"call":"1","before":"001.png","after":"002.jpg","tree":"screen-1.txt"}]}`,
		"s/trace/001.png":           png + "data",
		"s/trace/002.jpg":           jpeg + "data",
		"s/trace/003.jpg":           jpeg,
		"s/trace/screen-1.txt":      markup,
		"s/steps/01/screenshot.png": png,
		"s/steps/01/page.html":      markup,
		"s/markup.png":              markup,
		"s/folder.png/inner.txt":    "",
		"s/recording.trail.yaml":    "",
		"out.png":                   png,
	})
	h := New(dir)
	for _, tt := range []struct {
		session, name string
		want          int
		kind          string
	}{
		{"s", "trace/001.png", 200, "image/png"},
		{"s", "trace/002.jpg", 200, "image/jpeg"},
		{"s", "trace/screen-1.txt", 200, "text/plain; charset=utf-8"},
		{"s", "markup.png", 200, "text/plain; charset=utf-8"},
		{"s", "trace/003.jpg", 404, ""},
		{"s", "trace/trace.json", 404, ""},
		{"s", "steps/01/screenshot.png", 404, ""},
		{"s", "steps/01/page.html", 404, ""},
		{"s", "../out.png", 404, ""},
		{"s", "folder.png", 404, ""},
		{"s", "events.ndjson", 404, ""},
		{"s", "", 404, ""},
		{"", "out.png", 404, ""},
		{".", "out.png", 404, ""},
		{"none", "a.png", 404, ""},
	} {
		w := httptest.NewRecorder()
		h.ServeFile(w, httptest.NewRequest(http.MethodGet, "/", nil), tt.session+"/"+tt.name)
		got := w.Header().Get("Content-Type")
		if w.Code != tt.want || tt.want == 200 && (got != tt.kind || w.Header().Get("X-Content-Type-Options") != "nosniff") {
			t.Errorf("%s %s: %d %s", tt.session, tt.name, w.Code, got)
		}
	}
}

// TestManySessionsAreServed opens more sessions than the names of files are kept of: the first one is opened again.
func TestManySessionsAreServed(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range maxKnown + 2 {
		name := fmt.Sprintf("s%d", i)
		files[name+"/events.ndjson"] = events(name, started, step1, call("1", "tap"), done("1", true, ""), `evidence "file":"a.png","title":"x","step":1,"call":"1"`)
		files[name+"/a.png"] = png
	}
	h := New(logs(t, files))
	for range 2 {
		for i := range maxKnown + 2 {
			w := httptest.NewRecorder()
			h.ServeFile(w, httptest.NewRequest(http.MethodGet, "/", nil), fmt.Sprintf("s%d/a.png", i))
			if w.Code != http.StatusOK {
				t.Errorf("s%d: %d", i, w.Code)
			}
		}
	}
	if len(h.known.sessions) != maxKnown {
		t.Errorf("%d sessions are kept", len(h.known.sessions))
	}
}

// FuzzOpen opens sessions with any log and any trace: no panic, and every picture is below the session's folder.
func FuzzOpen(f *testing.F) {
	f.Add(events("s", started, step1, call("1", "tap"), done("1", false, ""), evidence("failure/a.png", ""), evidence("trace/trace.json", ""), failed), `{"calls":[{"call":"1","after":"a.jpg"}]}`)
	f.Add(events("s", step1, call("1.1", "a"), call("1.1.1", "a"), call("", ""), done("", true, ""), evidence("trace/trace.json", "")), `{"calls":null,"removedPictures":-1}`)
	f.Add("{", "[")
	f.Fuzz(func(t *testing.T, log, trace string) {
		session := t.TempDir()
		_ = os.MkdirAll(filepath.Join(session, "trace"), 0o755)
		_ = os.WriteFile(filepath.Join(session, "events.ndjson"), []byte(log), 0o600)
		_ = os.WriteFile(filepath.Join(session, "trace", "trace.json"), []byte(trace), 0o600)
		h := New(filepath.Dir(session))
		h.List()
		p, err := h.Open(filepath.Base(session))
		if err != nil {
			return
		}
		if _, err := json.Marshal(p); err != nil {
			t.Error(err)
		}
		if p.Failed < -1 || p.Failed >= len(p.Moments) {
			t.Error(p.Failed)
		}
		for name := range p.files() {
			h.ServeFile(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil), p.Session+"/"+name)
		}
	})
}
