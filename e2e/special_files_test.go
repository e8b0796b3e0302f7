//go:build unix

package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// specialFiles is a project with a pipe without a writer, under the names that flags accept.
func specialFiles(t *testing.T) *project {
	t.Helper()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": fakeConfig("ok"), "trails/a.trail.yaml": webTrail("echo: { text: \"{{TOKEN}}\" }"),
	})
	for _, name := range []string{"pipe", "pipe.trail.yaml"} {
		if err := syscall.Mkfifo(p.path(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/dev/zero", p.path("zero.trail.yaml")); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFlagsDoNotReadPipesAndDevicesToTheirEnd(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		code int
		args string
		want string
	}{
		{3, "run --args-file pipe", "not a regular file"},
		{3, "run --args-file /dev/zero", "not a regular file"},
		{0, "run --memory TOKEN=x --shard 1/1 --durations pipe", "not a regular file"},
		{3, "report merge results.ndjson --durations pipe", "not a regular file"},
		{3, "report merge results.ndjson --durations /dev/zero", "not a regular file"},
		{3, "report merge /dev/zero", "not a regular file"},
		{2, "report merge pipe", "the run ended before its first trail"},
		{2, "run --memory TOKEN=x --junit pipe", "no such device"},
		{2, "run --memory TOKEN=x --html page", "no such device"},
		{3, "run --memory TOKEN=x --last-failed", "not a regular file"},
		{3, "report latest --html out", "contains no session"},
		{3, "run --memory TOKEN=x --record pipe.trail.yaml", "not a regular file"},
		{3, "run --memory TOKEN=x --record zero.trail.yaml", "not a regular file"},
		{3, "tool echo --save pipe.trail.yaml --step s", "not a regular file"},
		{3, "tool echo --save zero.trail.yaml --step s", "not a regular file"},
		{0, "run --memory TOKEN=x --json", `"version":"test"}`},
		{0, "logs prune --keep 0", "removed 2 sessions"},
		{3, "run --secret TOKEN=@pipe", "--secret TOKEN is empty"},
		{3, "run --secret TOKEN=@/dev/zero", "larger than 64 KiB"},
	} {
		t.Run(tc.args, func(t *testing.T) {
			t.Parallel()
			p := specialFiles(t)
			p.write("results.ndjson", p.run("run", "--json", "--memory", "TOKEN=x").stdout)
			for _, name := range []string{"page/index.html", "logs/.last-run.json", "logs/latest", ".git/HEAD", "logs/a_20260101T000000Z_0000000a/.in-use"} {
				path := p.path(name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.RemoveAll(path), syscall.Mkfifo(path, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			c := p.command(strings.Fields(tc.args)...)
			var output strings.Builder
			c.Stdout, c.Stderr = &output, &output
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
			defer timer.Stop()
			_ = c.Wait() // the exit code is checked below
			if code := c.ProcessState.ExitCode(); code != tc.code || !strings.Contains(output.String(), tc.want) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, tc.code, tc.want, output.String())
			}
		})
	}
}

func TestSecretOfAPipeIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	const secret = "s3cret-of-a-pipe"
	p := specialFiles(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	c := p.command("run", "--json", "--secret", "TOKEN=@/dev/fd/3")
	c.ExtraFiles = []*os.File{read}
	go func() {
		_, _ = write.WriteString(secret + "\n")
		_ = write.Close()
	}()
	output, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(output), `"text":"{{TOKEN}}"`) || strings.Contains(string(output), secret) {
		t.Errorf("%v\n%s", err, output)
	}
	spawntest.NoSurvivors(t, p.marker)
}

func TestInterruptEndsTheWaitForASecret(t *testing.T) {
	t.Parallel()
	p := specialFiles(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	c := p.command("run", "--secret", "TOKEN=@/dev/fd/3")
	c.ExtraFiles = []*os.File{read}
	reading := func() { // returns when the program has read what the pipe has
		_, _ = write.WriteString("s")
		rest := []unix.PollFd{{Fd: int32(read.Fd()), Events: unix.POLLIN}}
		for {
			if n, _ := unix.Poll(rest, 0); n == 0 {
				return
			}
			<-time.After(time.Millisecond)
		}
	}
	if code, output := signalled(t, c, reading, syscall.SIGINT, false); code != 130 {
		t.Errorf("exit code %d\n%s", code, output)
	}
}
