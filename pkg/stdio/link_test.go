//go:build unix

package stdio

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// normalized replaces what differs from run to run.
func normalized(s *server, text string) string {
	text = strings.ReplaceAll(text, s.log, "<log>")
	return regexp.MustCompile(`[\d.]+m?s\b`).ReplaceAllString(text, "<time>")
}

func TestExplainAddsStrayTextAndTheLog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, shell, want string }{
		{
			"no message", "echo starting; echo no database >&2; exit 3",
			"initialize: EOF\n  the process exited with code 3 after <time>\n  the end of its stderr:\n    no database\n" +
				"  on its stdout, in place of the protocol:\n    starting\n  log: <log>",
		},
		{
			"a message and stray text", `echo '{"jsonrpc":"2.0","method":"m"}'; echo stray; kill -ABRT $$`,
			"initialize: EOF\n  the process was killed by signal ABRT after <time>\n  log: <log>",
		},
		{"no output", "exit 3", "initialize: EOF\n  the process exited with code 3 after <time>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := startSpec(t, shell(c.shell))
			go func() { // so that stdout is read to its end
				for {
					if _, err := s.conn.Read(t.Context()); err != nil {
						return
					}
				}
			}()
			s.waitDone()
			e := s.Explain(fault.New(fault.Server, "", "initialize: EOF"))
			if diff := cmp.Diff(c.want, normalized(s, e.Message)); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if e.Details["log"] != s.log {
				t.Errorf("details %v", e.Details)
			}
		})
	}
}

func TestServerThatDoesNotUseStdoutForTheProtocolMayWriteToIt(t *testing.T) {
	t.Parallel()
	spec := shell("echo listening; exit 3")
	spec.LogStdout, spec.LogPath = true, filepath.Join(t.TempDir(), "later", "stderr.log") // the folder is created with the first byte
	s := startSpec(t, spec)
	s.waitDone()
	if got := s.noticed(); len(got) > 0 {
		t.Errorf("notices %q", got)
	}
	text, err := os.ReadFile(spec.LogPath)
	if diff := cmp.Diff("[stdout] listening\n", string(text)); err != nil || diff != "" {
		t.Errorf("log, %v (-want +got):\n%s", err, diff)
	}
	explained := s.Explain(fault.New(fault.Crashed, "", "gone")).Message
	if !strings.Contains(explained, "\n  on its stdout:\n    listening\n") {
		t.Errorf("explained as %s", explained)
	}
}

func TestServerWithoutOutputCreatesNoFolderForItsLog(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "later")
	spec := shell("exit 0")
	spec.LogPath = filepath.Join(folder, "stderr.log")
	s := startSpec(t, spec)
	s.waitDone()
	if _, err := os.Stat(folder); err == nil {
		t.Error("there is one")
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

func TestSecretsAreTakenOutOfLogsErrorsAndNotices(t *testing.T) {
	t.Parallel()
	var lines []string
	spec := shell("echo stdout $SECRET; echo stderr $SECRET >&2")
	spec.Env = []string{"SECRET=hunter2"}
	spec.Redact = func(w io.Writer) io.WriteCloser { return &masker{w: w} }
	spec.StderrLine = func(line string) { lines = append(lines, line) }
	s := startSpec(t, spec)
	s.waitDone()
	e := s.Explain(fault.New(fault.Server, "", "broken"))
	all := strings.Join(append(append(s.noticed(), lines...), s.logged(), e.Message, fmt.Sprint(e.Details)), "\n")
	if strings.Contains(all, "hunter2") || strings.Count(all, "stdout {{PASSWORD}}") < 3 || strings.Count(all, "stderr {{PASSWORD}}") < 4 {
		t.Error(all)
	}
}

func TestStderrLinesAreReported(t *testing.T) {
	t.Parallel()
	var lines []string
	spec := shell(`printf 'one\n\ntwo\r\n%s\nlast' "$(printf '%05000d' 0)" >&2`)
	spec.StderrLine = func(line string) { lines = append(lines, line) }
	s := startSpec(t, spec)
	s.waitDone()
	zeros := strings.Repeat("0", 5000)
	if diff := cmp.Diff([]string{"one", "", "two", zeros[:maxStderrLine], zeros[maxStderrLine:], "last"}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
