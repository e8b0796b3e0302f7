package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/redact"
)

// written returns the file of j, after xmllint and encoding/xml have parsed it.
func written(t *testing.T, j *JUnit) string {
	t.Helper()
	var out bytes.Buffer
	if err := j.Write(&out); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "junit.xml")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("xmllint"); err != nil {
		t.Fatal("xmllint is missing: run make deps, or install libxml2-utils (Debian, Ubuntu) or libxml2 (Fedora, Homebrew)")
	}
	schema := filepath.Join("testdata", "junit.xsd")
	if report, err := exec.Command("xmllint", "--noout", "--nonet", "--schema", schema, file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s\n%s", err, report, out.String())
	}
	if err := readXML(out.Bytes()); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	return out.String()
}

func readXML(b []byte) error {
	for d := xml.NewDecoder(bytes.NewReader(b)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// What a test case says are the notes of the attempt that passed.
func TestJUnitHasNotesOfPassingTrails(t *testing.T) {
	t.Parallel()
	j, clock := NewJUnit(), newClock()
	s := event.NewStream(clock.now, redact.New(map[string]string{"PW": "hunter22"}), j)
	replay := func(name string, attempts, notes int, outcome event.Outcome) {
		for attempt := range attempts {
			e := s.Session(fmt.Sprint(name, attempt), name, nil)
			e.Emit(event.TrailStarted{File: name, Title: name})
			e.Emit(event.StepStarted{Index: 2, Within: "3", Text: "Delete"})
			for range notes {
				e.Emit(event.CallFinished{Call: "1", Tool: "web_click", OK: true, Notes: []string{fmt.Sprintf("first of %d, hunter22", attempt+2)}})
			}
		}
		s.Session(fmt.Sprint(name, attempts-1), name, nil).Emit(event.TrailFinished{
			File: name, Title: name, Outcome: outcome, Attempts: attempts, Flaky: attempts > 1,
		})
	}
	replay("flaky", 2, 1, event.Passed)
	replay("many", 1, maxNotes+2, event.Passed)
	replay("none", 1, 0, event.Passed)
	replay("failed", 1, 1, event.Failed)
	got := written(t, j)
	const note = "note: step 3.2: Delete, web_click: first of 3, {{PW}}"
	if want := "<system-out>flaky: passed on attempt 2&#xA;" + note + "</system-out>"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	if strings.Count(got, "first of 2") != maxNotes || !strings.Contains(got, "&#xA;2 more notes of calls</system-out>") || strings.Count(got, "<system-out>") != 2 {
		t.Errorf("got\n%s", got)
	}
}

func TestJUnitFollowsTheSchema(t *testing.T) {
	t.Parallel()
	j := NewJUnit()
	play(newClock(), j)
	golden(t, "junit", []byte(written(t, j)))
	golden(t, "junit-empty", []byte(written(t, NewJUnit())))
}

// hostile returns text that XML, HTML or terminals may interpret.
func hostile() string {
	var b strings.Builder
	for c := range rune(0x100) {
		b.WriteRune(c)
	}
	for c := range 0x100 {
		b.WriteByte(byte(c))
	}
	return b.String() + "\x1b[31m ]]> <![CDATA[ <!-- --> &amp; &#0; <?xml \ufffe\uffff\U0010ffff\u2028\u202e \xed\xa0\x80 \x1b]0;" +
		strings.Repeat("long ", 100_000)
}

func TestJUnitIsValidXML(t *testing.T) {
	t.Parallel()
	text := hostile()
	j := NewJUnit()
	s := event.NewStream(newClock().now, redact.New(nil), j)
	for _, outcome := range []event.Outcome{event.Passed, event.Failed, event.Error, event.Skipped} {
		s.Emit(event.TrailFinished{
			File: text, Title: text, Outcome: outcome, Reason: text, Hint: text, Step: 1, StepText: text, Tool: text, Line: 3, DurationMs: 1, Attempts: 1,
			Artifacts: []string{text},
		})
	}
	got := written(t, j)
	if strings.ContainsAny(got, "\x1b\x07\x00") {
		t.Error("a control character is left")
	}
	if !strings.Contains(got, "]]&gt; &lt;![CDATA[") {
		t.Error("the text itself is missing")
	}
}

func TestJUnitOfInterruptedRun(t *testing.T) {
	t.Parallel()
	j := NewJUnit()
	clock := newClock()
	s := event.NewStream(clock.now, redact.New(nil), j)
	s.Session("1", "a", nil).Emit(event.TrailStarted{File: "dir/a", Title: "first attempt"})
	s.Session("2", "a", nil).Emit(event.TrailStarted{File: "dir/a", Title: "first attempt"}) // a retry, not a second trail
	clock.pass(1500 * time.Millisecond)
	s.Emit(event.Log{Level: "error", Message: "interrupted"})
	for range 2 { // writing again adds nothing
		got := written(t, j)
		want := `<testcase name="first attempt" classname="dir.a" time="1.500" file="dir/a">` + "\n      " + `<error message="the run ended before this trail did"`
		if !strings.Contains(got, want) || !strings.Contains(got, `<testsuites name="trailblaze" tests="1" failures="0" errors="1" time="1.500">`) {
			t.Errorf("got\n%s", got)
		}
	}
}

// Programs that read the report tell test cases apart by their classname and name, not by their suite.
func TestJUnitNamesAreUnique(t *testing.T) {
	t.Parallel()
	j := NewJUnit()
	s := event.NewStream(newClock().now, redact.New(nil), j)
	for _, file := range []string{"t/a.trail.yaml", "t/a.trail.yaml", "t/b.trail.yaml", "t/a.trail.yaml"} {
		s.Emit(event.TrailFinished{File: file, Title: "same", Outcome: event.Passed})
	}
	got := written(t, j)
	for _, want := range []string{
		`tests="3"`, `name="same" classname="t.a"`, `name="same #2" classname="t.a"`, `name="same #3" classname="t.a"`, `name="same" classname="t.b"`,
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("not once %s in\n%s", want, got)
		}
	}
}

// Only a trail that passed without another recording is flaky.
func TestJUnitOfEarlierAttempts(t *testing.T) {
	t.Parallel()
	earlier := []event.Attempt{
		{Outcome: event.Failed, Reason: "no button\nat all", Session: "a_1"}, {Outcome: event.Error, Reason: "no browser", Session: "a_2"},
	}
	for name, tt := range map[string]struct {
		finished event.TrailFinished
		want     []string
	}{
		"flaky": {event.TrailFinished{Outcome: event.Passed, Flaky: true, Attempts: 3}, []string{
			`<flakyFailure message="no button" type="failed">`, `<flakyError message="no browser" type="error">`, "flaky: passed on attempt 3",
		}},
		"healed": {event.TrailFinished{Outcome: event.Passed, Attempts: 2}, []string{
			"<system-out>attempt 1 failed: no button, session a_1&#xA;attempt 2 error: no browser, session a_2</system-out>",
		}},
		"failed": {event.TrailFinished{Outcome: event.Failed, Attempts: 3}, []string{
			`<rerunFailure message="no button" type="failed">`, `<rerunError message="no browser" type="error">`,
		}},
	} {
		j := NewJUnit()
		s := event.NewStream(newClock().now, redact.New(nil), j)
		tt.finished.File, tt.finished.Earlier = "a.trail.yaml", earlier
		s.Emit(tt.finished)
		got := written(t, j)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}
		if flaky := strings.Contains(got, "flaky"); flaky != tt.finished.Flaky {
			t.Errorf("%s: flaky %v in\n%s", name, flaky, got)
		}
	}
}

func TestJUnitClassnames(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"trails/checkout-web.trail.yaml":    "trails.checkout-web",
		"trails/v2.1/cart.v3.trail.yaml":    "trails.v2_1.cart_v3",
		"../../shop/trails/cart.trail.yaml": "shop.trails.cart",
		"cart.trail.yaml":                   "cart",
		"trails/blaze.yaml":                 "trails.blaze",
		"trails/.hidden/a.yaml":             "trails._hidden.a",
		"/work/shop/a.trail.yaml":           "work.shop.a",
		"trailblaze":                        "trailblaze",
		"a//b/./c.trail.yaml":               "a.b.c",
		"..":                                "",
	} {
		if got := classname(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestJUnitDoesNotKeepCalls(t *testing.T) {
	t.Parallel()
	quiet, busy := NewJUnit(), NewJUnit()
	for j, calls := range map[*JUnit]int{quiet: 0, busy: 10_000} {
		s := event.NewStream(newClock().now, redact.New(nil), j)
		e := s.Session("s", "a", nil)
		e.Emit(event.TrailStarted{File: "a", Title: "A"})
		for i := range calls {
			e.Emit(event.CallStarted{Call: fmt.Sprint(i), Args: map[string]any{"text": strings.Repeat("x", 100)}})
			e.Emit(event.CallFinished{Call: fmt.Sprint(i), OK: true, Text: strings.Repeat("x", 100)})
			e.Log("info", "", "text", "")
		}
		e.Emit(event.TrailFinished{File: "a", Title: "A", Outcome: event.Passed})
	}
	if diff := cmp.Diff(fmt.Sprintf("%+v", deref(quiet)), fmt.Sprintf("%+v", deref(busy))); diff != "" {
		t.Errorf("(-quiet +busy):\n%s", diff)
	}
}

func deref(j *JUnit) []any {
	all := []any{*j}
	for _, s := range j.suites {
		all = append(all, *s)
	}
	return all[1:]
}

func TestJUnitReturnsWriteErrors(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	if err := NewJUnit().Write(&failingWriter{err: full}); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
}
