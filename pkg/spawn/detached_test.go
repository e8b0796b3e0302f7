//go:build unix

package spawn

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

func TestDetachedProcessHasSessionOfItsOwn(t *testing.T) {
	t.Parallel()
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := StartDetached(DetachedSpec{
		Path: self, Dir: t.TempDir(), Env: append(os.Environ(), roleVariable+"=echo"), Stderr: stderr,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p.Stdin, "hello\n"); err != nil {
		t.Error(err)
	}
	if line, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil || !strings.Contains(line, "hello") {
		t.Errorf("stdout %q, %v", line, err)
	}
	if group, err := syscall.Getpgid(p.PID); err != nil || group != p.PID {
		t.Errorf("group %d of process %d, %v", group, p.PID, err)
	}
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	text, err := os.ReadFile(stderr.Name())
	if err != nil || !strings.Contains(string(text), "cleaned up") {
		t.Errorf("stderr %q, %v", text, err)
	}
	if _, err := StartDetached(DetachedSpec{Path: filepath.Join(t.TempDir(), "missing"), Stderr: stderr}); err == nil {
		t.Error("a program that does not exist was started")
	}
}

// launcher launches a program that leaves another one, as the one does that opens a browser, and then has processes of
// its own, which it stops. All that was launched must go on.
func launcher([]string) {
	AdoptOrphans()
	// One is an orphan before the supervisor has a process, the other is the launched program itself.
	for _, script := range []string{"sleep 3600 & exit", "exec sleep 3600"} {
		if err := Launch("sh", []string{"-c", script}, os.Environ()); err != nil {
			panic(err)
		}
	}
	sup := NewSupervisor(Options{})
	p, err := sup.Start(context.Background(), Spec{Command: "cat", Env: os.Environ()})
	if err != nil {
		panic(err)
	}
	if err := p.Stop(context.Background()); err != nil {
		panic(err)
	}
	sup.KillAll()
	if err := sup.Close(); err != nil {
		panic(err)
	}
}

func TestLaunchedProgramsGoOn(t *testing.T) {
	t.Parallel()
	marker := spawntest.Marker()
	sleeping := func() (pids []int) {
		for _, found := range spawntest.Survivors(marker) {
			var pid int
			if _, err := fmt.Sscanf(found, "%d sleep 3600", &pid); err == nil {
				pids = append(pids, pid)
			}
		}
		return pids
	}
	cmd := exec.CommandContext(t.Context(), self(t))
	cmd.Env = append(os.Environ(), roleVariable+"=launcher", marker)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	until(t, "both go on", func() bool { return len(sleeping()) == 2 })
	for _, pid := range sleeping() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	spawntest.NoSurvivors(t, marker)
	if err := Launch("no-such-program", nil, os.Environ()); err == nil {
		t.Error("a program that does not exist was started")
	}
}
