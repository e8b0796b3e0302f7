package spawn

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func startInShell(t *testing.T, command, dir string, out *strings.Builder) backend {
	t.Helper()
	program, args := Shell(command)
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir, cmd.Stdout = dir, out
	process, err := startOSProcess(cmd, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	return process
}

func TestShellCommandRunsInJob(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	process := startInShell(t, `echo "a b" & exit 3`, "", &out)
	process.wait()
	process.reap()
	if got := strings.TrimSpace(out.String()); got != `"a b"` || process.exit().code != 3 {
		t.Errorf("output %q, %s", got, process.exit())
	}
}

// TestKillEndsWhatTheProcessStarted waits until ping has closed its copy of stdout. The system removes no folder in which
// a process runs.
func TestKillEndsWhatTheProcessStarted(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	process := startInShell(t, "ping -n 600 127.0.0.1", dir, &out)
	process.kill()
	process.wait()
	process.reap()
	if err := os.Remove(dir); err != nil {
		t.Error(err)
	}
}
