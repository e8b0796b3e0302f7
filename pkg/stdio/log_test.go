//go:build unix

package stdio

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/spawn"
)

func TestLogThatCannotBeWrittenIsReportedOnce(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path   string
		failed bool
	}{"a folder, to LogFailed": {t.TempDir(), true}, "a folder, to Log": {t.TempDir(), false}, "a pipe": {fifo, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reported := make(chan error, 10)
			spec := shell("echo line >&2; echo stray; echo line >&2")
			spec.LogPath = c.path
			if c.failed {
				spec.LogFailed = func(err error) { reported <- err }
			}
			s := startSpec(t, spec)
			s.waitDone()
			s.mustStop()
			close(reported)
			var got []string
			for err := range reported {
				got = append(got, err.Error())
			}
			for _, n := range s.noticed() {
				if text, ok := strings.CutPrefix(n, "warn: its log cannot be written: "); ok {
					got = append(got, text)
				}
			}
			if len(got) != 1 || !strings.HasPrefix(got[0], "open "+c.path+": ") {
				t.Errorf("reported %q", got)
			}
			if tail := s.Stderr(); tail != "line\nline" {
				t.Errorf("tail %q", tail)
			}
		})
	}
}

func TestStderrAndStrayStdoutDoNotShareALine(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/log"
	l := newOutputLog(Spec{LogPath: path, Spec: spawn.Spec{Log: func(string, string, string) {}}})
	l.write(fromStderr, []byte("half"))
	l.write(fromStdout, []byte("stray\nhalf a str"))
	l.write(fromStderr, []byte(" a line\n"))
	l.write(fromStdout, []byte("ay\n"))
	l.closeSource()
	l.closeSource()
	data, _ := os.ReadFile(path)
	if diff := cmp.Diff("half\n[stdout] stray\n[stdout] half a str\n a line\n[stdout] ay\n", string(data)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// TestFullLogKeepsItsBeginningAndItsEnd writes numbered lines, in pieces of several sizes, also by two writers after
// one another, as after a restart of the server.
func TestFullLogKeepsItsBeginningAndItsEnd(t *testing.T) {
	t.Parallel()
	const limit, lines = 4000, 5000
	for _, piece := range []int{1, 7, 64, 3000, 1 << 20} {
		t.Run(fmt.Sprint(piece), func(t *testing.T) {
			t.Parallel()
			var text bytes.Buffer
			for i := range lines {
				fmt.Fprintf(&text, "line %d\n", i)
			}
			total := text.Len()
			path := filepath.Join(t.TempDir(), "log")
			for _, part := range []int{total / 3, total} {
				f, err := openLogFile(path, limit)
				if err != nil {
					t.Fatal(err)
				}
				for rest := text.Next(part); len(rest) > 0; rest = rest[min(piece, len(rest)):] {
					if err := f.write(rest[:min(piece, len(rest))]); err != nil {
						t.Fatal(err)
					}
					if info, err := os.Stat(path); err != nil || info.Size() > limit {
						t.Fatalf("the file has %v, %v", info, err)
					}
				}
				if err := f.close(); err != nil {
					t.Fatal(err)
				}
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checkShortened(t, string(data), total)
		})
	}
}

// checkShortened checks that a log consists of the first lines, a mark with the right number of bytes, and the last
// lines.
func checkShortened(t *testing.T, log string, total int) {
	t.Helper()
	head, rest, found := strings.Cut(log, "[trailblaze: ")
	number, tail, _ := strings.Cut(rest, " bytes are left out here]\n")
	if !found || !strings.HasSuffix(head, "\n") || !strings.HasPrefix(tail, "line ") || strings.Contains(tail, "trailblaze") {
		t.Fatalf("log %.100q…", log)
	}
	for i, line := range strings.Split(strings.TrimSuffix(head, "\n"), "\n") {
		if line != fmt.Sprintf("line %d", i) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
	if !strings.HasSuffix(tail, "line 4999\n") {
		t.Errorf("it ends with %q", tail[max(0, len(tail)-20):])
	}
	if want := total - len(head) - len(tail); number != fmt.Sprint(want) {
		t.Errorf("%s bytes are left out, want %d", number, want)
	}
}

func TestFullLogOfOneLineKeepsItsBeginningAndItsEnd(t *testing.T) {
	t.Parallel()
	const limit = 1000
	path := filepath.Join(t.TempDir(), "log")
	f, err := openLogFile(path, limit)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for range 10_000 {
		if err := f.write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	data, _ := os.ReadFile(path)
	if n := bytes.Count(data, []byte("x")); len(data) > limit || !bytes.Contains(data, fmt.Appendf(nil, "[trailblaze: %d bytes are left out here]\nx", 10_000-n)) {
		t.Errorf("%d of them in %q", n, data)
	}
}
