//go:build unix

package stdio

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// startScript starts a server that writes first at once, and answer for every call.
func startScript(t *testing.T, first, answer string) *server {
	t.Helper()
	dir := t.TempDir()
	return start(t, "script", put(t, dir+"/first", first), put(t, dir+"/answer", answer))
}

func TestStrayTextOnStdoutIsLoggedWithOneWarning(t *testing.T) {
	t.Parallel()
	megabytes := strings.Repeat("stray ", 5<<20/6)
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
		{"JSON that is not a message", "{\"level\":\"info\"}\n[]\n", "ANSWER\n", "[stdout] {\"level\":\"info\"}\n[stdout] []\n"},
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
				!strings.Contains(got[0], "write to stderr instead; in JavaScript with console.error, in Python with print(…, file=sys.stderr)") || !strings.HasSuffix(got[0], s.log) {
				t.Errorf("notices %.1000q", got)
			}
		})
	}
}

func TestServerWithoutStrayTextCausesNoWarningAndNoLog(t *testing.T) {
	t.Parallel()
	s := startScript(t, "", "ANSWER\n\n\r\n")
	s.call("hello", "{}")
	s.mustStop()
	if _, err := os.Stat(s.log); err == nil || len(s.noticed()) > 0 {
		t.Errorf("log %q, notices %q", s.logged(), s.noticed())
	}
}

func TestStderrIsReadWhateverItsVolumeAndLineLength(t *testing.T) {
	t.Parallel()
	const maxLog = 128 << 10
	for _, c := range []struct {
		name, shape string
		bytes       int
	}{{"many times the limit of the log", "lines", 100 * maxLog}, {"without a newline", "bytes", 10 * maxLog}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spec := roleSpec(t, "floods stderr", c.shape, fmt.Sprint(c.bytes))
			spec.limits.log = maxLog
			s := startSpec(t, spec)
			s.call("hello", "{}")
			s.mustStop()
			info, err := os.Stat(s.log)
			if err != nil || info.Size() < maxLog/2 || info.Size() > maxLog {
				t.Errorf("the log has %v, %v", info, err)
			}
			end := s.Stderr()
			if !strings.HasSuffix(end, "e\n\nthe last line") && !strings.HasSuffix(end, "e\nthe last line") {
				t.Errorf("the tail has %d bytes and ends with %q", len(end), end[max(0, len(end)-50):])
			}
		})
	}
}

func TestLargeResultArrivesWhole(t *testing.T) {
	t.Parallel()
	s := start(t, "big")
	for _, size := range []int{1 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 5 << 20, 20 << 20} {
		if got := len(s.call("big", fmt.Sprint(size)).Result); got != size+2 {
			t.Errorf("%d bytes of %d", got, size+2)
		}
	}
}

// TestDefaultLimits: a line may have 64 MiB (specification, section 5), and a log 16 MiB.
func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	if got := (limits{}).orDefault(); got != (limits{line: 64 << 20, log: 16 << 20}) {
		t.Errorf("%+v", got)
	}
}

func TestAnswerOverTheLimitFailsOnlyItsCall(t *testing.T) {
	t.Parallel()
	const maxLine = 1 << 20
	spec := roleSpec(t, "big")
	spec.limits.line = maxLine
	s := startSpec(t, spec)
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
	if log := s.logged(); !strings.HasPrefix(log, "[stdout] (a line of 1048577 bytes, over the limit of 1048576, was dropped) {\"result\":\"0123") {
		t.Errorf("the log says %.300q", log)
	}
}
