//go:build unix

package spawn

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// startScript starts a server that writes first at once, and answer for every call.
func startScript(t *testing.T, first, answer string) *server {
	t.Helper()
	dir := t.TempDir()
	return start(t, "script", put(t, dir+"/first", first, 0o600), put(t, dir+"/answer", answer, 0o600))
}

func TestNoiseOnStdoutIsLoggedWithOneWarningAndNeverEndsTheSession(t *testing.T) {
	t.Parallel()
	megabytes := strings.Repeat("noise ", 5<<20/6)
	for _, c := range []struct {
		name          string
		first, answer string // what is written at once, and for every call
		log           string // after two calls
	}{
		{"before the handshake", "booting\n", "ANSWER\n", "[stdout] booting\n"},
		{"between messages", "", "ANSWER\nbetween\n", "[stdout] between\n[stdout] between\n"},
		{"in mid-call", "", "working\nstill working\nANSWER\n", strings.Repeat("[stdout] working\n[stdout] still working\n", 2)},
		{"without newline", "prompt> ", "ANSWER\n", "[stdout] prompt> \n"},
		{"with CRLF", "booting\r\n\r\n", "ANSWER\r\n", "[stdout] booting\n"},
		{"invalid UTF-8", "\xff\xfe\x80\n", "ANSWER\n", "[stdout] \xff\xfe\x80\n"},
		{"five megabytes", megabytes + "\n", "ANSWER\n", "[stdout] " + megabytes + "\n"},
		{"JSON that is no message", "{\"level\":\"info\"}\n[]\n", "ANSWER\n", "[stdout] {\"level\":\"info\"}\n[stdout] []\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := startScript(t, c.first, c.answer)
			for range 2 {
				if got := string(s.call("hello", "{}").Result); got != `"ok"` {
					t.Errorf("it answered %s", got)
				}
			}
			s.mustStop()
			if diff := cmp.Diff(c.log, s.logged()); diff != "" {
				t.Errorf("log (-want +got):\n%.1000s", diff)
			}
			if got := s.noticed(); len(got) != 1 || !strings.HasPrefix(got[0], "warn: writes to stdout, which carries the protocol: ") ||
				!strings.Contains(got[0], "write to stderr instead; in JavaScript, with console.error") || !strings.HasSuffix(got[0], s.log) {
				t.Errorf("notices %.1000q", got)
			}
		})
	}
}

func TestAQuietServerCausesNoWarningAndNoLog(t *testing.T) {
	t.Parallel()
	s := startScript(t, "", "ANSWER\n\n\r\n")
	s.call("hello", "{}")
	s.mustStop()
	if _, err := os.Stat(s.log); err == nil || len(s.noticed()) > 0 {
		t.Errorf("log %q, notices %q", s.logged(), s.noticed())
	}
}

func TestStderrIsDrainedWhateverItsVolumeAndLineLength(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, shape string
		bytes       int
	}{{"a hundred megabytes", "lines", 100 << 20}, {"ten megabytes without a newline", "bytes", 10 << 20}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "screams", c.shape, fmt.Sprint(c.bytes))
			s.call("hello", "{}")
			s.mustStop()
			info, err := os.Stat(s.log)
			if err != nil || info.Size() < int64(c.bytes) {
				t.Errorf("the log has %v, %v", info, err)
			}
			end := tail(s.record.remembered())
			if len(end) > tailBytes || !strings.HasSuffix(end, "e\n\nthe last line") && !strings.HasSuffix(end, "e\nthe last line") {
				t.Errorf("the tail has %d bytes and ends with %q", len(end), end[max(0, len(end)-50):])
			}
		})
	}
}

func TestABigResultArrivesWhole(t *testing.T) {
	t.Parallel()
	s := start(t, "big")
	for _, size := range []int{1 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 5 << 20, 20 << 20} {
		if got := len(s.call("big", fmt.Sprint(size)).Result); got != size+2 {
			t.Errorf("%d bytes of %d", got, size+2)
		}
	}
}

func TestAnAnswerOver64MiBFailsItsCallAndTheServerGoesOn(t *testing.T) {
	t.Parallel()
	s := start(t, "big")
	const frame = len(`{"result":"","jsonrpc":"2.0","id":1}`)
	if got := len(s.call("big", fmt.Sprint(maxLine-frame)).Result); got != maxLine-frame+2 {
		t.Errorf("at the limit: %d bytes", got)
	}
	if err := s.call("big", fmt.Sprint(maxLine-frame+1)).Error; fault.KindOf(err) != fault.TooLarge {
		t.Errorf("over the limit: %v", err)
	}
	if got := string(s.call("big", "2").Result); got != `"01"` {
		t.Errorf("afterwards: %s", got)
	}
	s.mustStop()
	if log := s.logged(); !strings.HasPrefix(log, "[stdout] (a line of 67108865 bytes, over the limit of 67108864, was dropped) {\"result\":\"0123") {
		t.Errorf("the log says %.300q", log)
	}
}

// masker stands in for the redaction of secrets, which may hold bytes back until it is closed.
type masker struct {
	w    io.Writer
	held []byte
}

func (m *masker) Write(p []byte) (int, error) {
	m.held = append(m.held, p...)
	return len(p), nil
}

func (m *masker) Close() error {
	_, err := m.w.Write(bytes.ReplaceAll(m.held, []byte("hunter2"), []byte("{{PASSWORD}}")))
	return err
}

func TestSecretsReachNeitherTheLogNorAnErrorNorANotice(t *testing.T) {
	t.Parallel()
	s := startSpec(t, Spec{
		Command: "sh", Args: []string{"-c", "echo stdout $SECRET; echo stderr $SECRET >&2"}, Env: []string{"SECRET=hunter2"},
		Redact: func(w io.Writer) io.WriteCloser { return &masker{w: w} },
	})
	s.waitDone()
	e := s.Explain(fault.New(fault.Server, "", "broken"))
	all := strings.Join(append(s.noticed(), s.logged(), e.Message, fmt.Sprint(e.Details)), "\n")
	if strings.Contains(all, "hunter2") || strings.Count(all, "stdout {{PASSWORD}}") < 3 || strings.Count(all, "stderr {{PASSWORD}}") < 3 {
		t.Error(all)
	}
}

func TestALogThatCannotBeWrittenIsToldOfOnce(t *testing.T) {
	t.Parallel()
	for name, asked := range map[string]bool{"to who asked": true, "to Log when nobody did": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := make(chan error, 10)
			spec := Spec{Command: "sh", Args: []string{"-c", "echo line >&2; echo stray; echo line >&2"}, LogPath: t.TempDir()}
			if asked {
				spec.Unwritable = func(err error) { told <- err }
			}
			s := startSpec(t, spec)
			s.waitDone()
			s.mustStop()
			close(told)
			var got []string
			for err := range told {
				got = append(got, err.Error())
			}
			for _, n := range s.noticed() {
				if text, ok := strings.CutPrefix(n, "warn: its log cannot be written: "); ok {
					got = append(got, text)
				}
			}
			if len(got) != 1 || !strings.HasPrefix(got[0], "open "+spec.LogPath+": ") {
				t.Errorf("told %q", got)
			}
			if tail := s.record.remembered(); tail != "line\nline" {
				t.Errorf("tail %q", tail)
			}
		})
	}
}

func TestTheRingKeepsTheLast64LinesAndTheTail4KB(t *testing.T) {
	t.Parallel()
	r := &record{notice: func(string, string, string) {}}
	for i := range 1000 {
		r.write(fromStderr, []byte(fmt.Sprintf("line %d", i)))
		r.write(fromStderr, []byte("\n"))
	}
	lines := strings.Split(r.remembered(), "\n")
	if len(lines) != ringLines || lines[0] != "line 936" || lines[len(lines)-1] != "line 999" {
		t.Errorf("%d lines, from %q to %q", len(lines), lines[0], lines[len(lines)-1])
	}
	for i := range 10 {
		r.write(fromStderr, []byte(fmt.Sprintf("%d %s\n", i, strings.Repeat("é", 500))))
	}
	if end := tail(r.remembered()); len(end) > tailBytes || !strings.HasPrefix(end, "6 é") && !strings.HasPrefix(end, "7 é") {
		t.Errorf("the tail has %d bytes and begins with %q", len(end), end[:10])
	}
	r.write(fromStderr, []byte(strings.Repeat("\xff", 100_000)))
	if end := tail(r.remembered()); !strings.HasPrefix(end, "�") || len(end) > 3*tailBytes {
		t.Errorf("the tail has %d bytes", len(end))
	}
}

func TestStderrAndStrayStdoutDoNotShareALine(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/log"
	r := &record{path: path, notice: func(string, string, string) {}}
	r.write(fromStderr, []byte("half"))
	r.write(fromStdout, []byte("stray\nhalf a str"))
	r.write(fromStderr, []byte(" a line\n"))
	r.write(fromStdout, []byte("ay\n"))
	r.close()
	data, _ := os.ReadFile(path)
	if diff := cmp.Diff("half\n[stdout] stray\n[stdout] half a str\n a line\n[stdout] ay\n", string(data)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestNoiseWhileNobodyReadsMessagesIsStillDrained(t *testing.T) {
	t.Parallel()
	flood := strings.Repeat(`{"jsonrpc":"2.0","method":"n"}`+"\n", 10_000)
	s := startScript(t, flood, "ANSWER\n")
	if msg, ok := s.read().(*jsonrpc.Request); !ok || msg.Method != "n" {
		t.Errorf("read %v", msg)
	}
	_ = s.conn.Close()
	if took := s.mustStop(); took > CloseGrace-time.Second {
		t.Errorf("stopping took %s", took)
	}
}
