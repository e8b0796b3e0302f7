package proc_test

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
)

// TestMain makes the test binary a process that marks the files named by closing to be closed on exec, and then waits
// for the end of its standard input.
func TestMain(m *testing.M) {
	switch closing := os.Getenv("PROC_TEST_CLOSE"); closing {
	case "":
		os.Exit(m.Run())
	case "1":
		syscall.CloseOnExec(1)
	case "3":
		syscall.CloseOnExec(3)
	}
	_, _ = os.Stderr.WriteString(".")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// A file that is to be closed on exec does not count, as a child has them right after it was forked, except standard
// output: Node marks it so.
func TestHolders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		closing string // the file that is closed on exec
		fd      int    // the one that is the pipe
		want    bool
	}{{"none", 1, true}, {"none", 3, true}, {"1", 1, true}, {"3", 3, false}} {
		read, write := pipe(t)
		ready, started := pipe(t)
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "PROC_TEST_CLOSE="+c.closing)
		cmd.Stderr = started
		if cmd.ExtraFiles = []*os.File{write}; c.fd == 1 {
			cmd.Stdout, cmd.ExtraFiles = write, nil
		}
		end, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := ready.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		info, err := read.Stat()
		if err != nil {
			t.Fatal(err)
		}
		found := proc.Holders([]uint64{info.Sys().(*syscall.Stat_t).Ino})
		got := slices.ContainsFunc(found, func(id proc.ID) bool { return id.PID == cmd.Process.Pid })
		if got != c.want {
			t.Errorf("file %d of a process that closes %s on exec: a holder: %t, want %t", c.fd, c.closing, got, c.want)
		}
		_ = end.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = read.Close(), write.Close() })
	return read, write
}
