package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
)

func TestJSONLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var records []event.Record
	play(newClock(), NewJSONLines(&out), event.HandlerFunc(func(r event.Record) { records = append(records, r) }))
	golden(t, "jsonlines", out.Bytes())
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(records) {
		t.Fatalf("%d lines for %d records", len(lines), len(records))
	}
	for i, line := range lines {
		var got struct {
			V, Seq        int
			Type, Session string
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.V != 1 || int64(got.Seq) != records[i].Seq || got.Type != records[i].Event.Type() ||
			got.Session != records[i].Session {
			t.Errorf("line %d, %v: %s", i+1, err, line)
		}
	}
}

func TestJSONEscapesControlCharacters(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	const message = "\x1b[31m \u009b31m \x7f \u0085 <&> ü \xff"
	NewJSONLines(&out).Handle(event.Record{Event: event.Log{Message: message}})
	for _, c := range strings.TrimSuffix(out.String(), "\n") {
		if isControl(c) {
			t.Errorf("%U is in %q", c, out.String())
		}
	}
	if !strings.Contains(out.String(), "<&> ü") {
		t.Errorf("more than necessary was escaped: %s", out.String())
	}
	var got event.Log
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Message != strings.ToValidUTF8(message, string(utf8.RuneError)) {
		t.Errorf("message %q, %v", got.Message, err)
	}
}

func TestRecordThatCannotBeEncodedIsLogged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	NewJSONLines(&out).Handle(event.Record{Seq: 7, Session: "s", Event: event.CallStarted{Args: map[string]any{"f": func() {}}}})
	const want = `{"v":1,"type":"log","time":"0001-01-01T00:00:00Z","seq":7,"session":"s","level":"error","source":"events",` +
		`"message":"a call.started record cannot be encoded: json: `
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("got %s", out.String())
	}
}

func TestRecordThatIsTooLongIsLogged(t *testing.T) {
	t.Parallel()
	r := event.Record{Seq: 7, Session: "s", Event: event.CallStarted{Call: "1", Args: map[string]any{"text": strings.Repeat("\u0085", 50)}}}
	whole := recordLine(r, MaxLine)
	if got := recordLine(r, len(whole)); !bytes.Equal(got, whole) {
		t.Errorf("a line as long as the limit is %s", got)
	}
	got := recordLine(r, len(whole)-1)
	want := fmt.Sprintf(`"a call.started record cannot be encoded: it has %d bytes, more than %d"}`+"\n", len(whole), len(whole)-1)
	if !strings.Contains(string(got), `"seq":7,"session":"s","level":"error"`) || !strings.HasSuffix(string(got), want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRecordWhoseEncodingPanicsIsLogged(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "events.ndjson")
	log := NewSessionLog(file, func(err error) { t.Error(err) })
	log.Handle(event.Record{Seq: 7, Event: event.CallStarted{Args: map[string]any{"f": panicking{}}}})
	log.Handle(event.Record{Seq: 8, Event: event.Log{Message: "goes on"}})
	_ = log.Close()
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(got, []byte("a call.started record cannot be encoded: internal error: oops")) || !bytes.Contains(got, []byte("goes on")) {
		t.Errorf("%s, %v", got, err)
	}
}

type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("oops") }

func TestJSONLinesStopAfterFailedWrite(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	w := &failingWriter{err: full}
	j := NewJSONLines(w)
	play(newClock(), j)
	if !errors.Is(j.Err(), full) || w.calls != 1 {
		t.Errorf("%v after %d writes, want %v after 1", j.Err(), w.calls, full)
	}
}

type failingWriter struct {
	err   error
	calls int
}

func (f *failingWriter) Write([]byte) (int, error) {
	f.calls++
	return 0, f.err
}

func TestSessionLogEqualsJSONLines(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "events.ndjson")
	var want bytes.Buffer
	log := NewSessionLog(file, func(err error) { t.Error(err) })
	play(newClock(), log, NewJSONLines(&want))
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	log.Handle(event.Record{Event: event.Log{Message: "too late"}})
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSessionLogDoesNotBlockAfterError(t *testing.T) {
	t.Parallel()
	var told []error
	log := NewSessionLog(filepath.Join(t.TempDir(), "events.ndjson"), func(err error) { told = append(told, err) })
	_ = log.file.Close()
	for range 3 * maxUnwritten {
		log.Handle(event.Record{Event: event.Log{Message: "m"}})
	}
	if err := log.Close(); err == nil || len(told) != 1 || !errors.Is(told[0], err) {
		t.Errorf("closed with %v, told of %v", err, told)
	}
}

func TestSessionLogIsWrittenBeforeClose(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "events.ndjson")
	log := NewSessionLog(file, func(err error) { t.Error(err) })
	defer log.Close()
	for i := range 3 {
		r := event.Record{Seq: int64(i + 1), Event: event.Log{Message: "m"}}
		log.Handle(r)
		want := recordLine(r, MaxLine)
		for deadline := time.Now().Add(10 * time.Second); ; {
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.HasSuffix(got, want) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("after 10 s the log is %s", got)
			}
			<-time.After(time.Millisecond)
		}
	}
}

// countingFile counts lines and writes. The fields are atomic because the race detector does not know that a timer
// which the test has waited for happens after what the test read before.
type countingFile struct{ lines, writes atomic.Int32 }

func (c *countingFile) Write(p []byte) (int, error) {
	c.lines.Add(int32(bytes.Count(p, []byte("\n"))))
	c.writes.Add(1)
	return len(p), nil
}

func (c *countingFile) Close() error { return nil }

func TestSessionLogWritesAfterDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := &countingFile{}
		log := startSessionLog(file, func(err error) { t.Error(err) })
		want := func(writes, lines int32) {
			t.Helper()
			synctest.Wait()
			if file.writes.Load() != writes || file.lines.Load() != lines {
				t.Errorf("%d lines in %d writes, want %d in %d", file.lines.Load(), file.writes.Load(), lines, writes)
			}
		}
		time.Sleep(time.Second) //nolint:forbidigo // the time of the test bubble
		log.Handle(event.Record{Event: event.CallStarted{}})
		time.Sleep(writeDelay - 1) //nolint:forbidigo // the time of the test bubble
		log.Handle(event.Record{Event: event.CallFinished{}})
		want(0, 0)
		time.Sleep(time.Nanosecond) //nolint:forbidigo // the time of the test bubble
		want(1, 2)
		for range maxUnwritten - 1 {
			log.Handle(event.Record{Event: event.CallStarted{}})
		}
		want(1, 2)
		log.Handle(event.Record{Event: event.CallFinished{}})
		want(2, 2+maxUnwritten)
		log.Handle(event.Record{Event: event.StepFinished{}})
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		want(3, 3+maxUnwritten)
	})
}

func TestSessionLogReportsErrorOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path   func(dir string) string
		broken func(*SessionLog)
	}{
		"no folder":          {func(dir string) string { return filepath.Join(dir, "none", "events.ndjson") }, func(*SessionLog) {}},
		"fails half-way":     {func(dir string) string { return filepath.Join(dir, "events.ndjson") }, func(l *SessionLog) { l.file.Close() }},
		"a folder is a file": {func(dir string) string { return filepath.Join(dir, "file", "events.ndjson") }, func(*SessionLog) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			told, handling := 0, false
			log := NewSessionLog(tt.path(dir), func(err error) {
				if told++; err == nil || handling {
					t.Errorf("told of %v, while handling a record: %v", err, handling)
				}
			})
			tt.broken(log)
			handling = true
			play(newClock(), log)
			handling = false
			_ = log.Close()
			_ = log.Close()
			if told != 1 {
				t.Errorf("told %d times", told)
			}
		})
	}
}
