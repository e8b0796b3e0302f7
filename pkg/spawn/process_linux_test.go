package spawn

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

func TestProcessHasItsOwnSessionAndNoOtherFiles(t *testing.T) {
	t.Parallel()
	ours, err := os.Create(filepath.Join(t.TempDir(), "ours"))
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	files := launch(t, nil, Spec{Command: "sh", Args: []string{"-c", "exec ls -l /proc/self/fd >&2"}})
	files.waitDone()
	if got := files.output.String(); strings.Contains(got, ours.Name()) || strings.Count(got, "pipe:") < 3 {
		t.Errorf("it has these files open:\n%s", got)
	}
	c := launch(t, nil, Spec{Command: "sh", Args: []string{"-c", "cut -d' ' -f6 /proc/$$/stat >&2; echo $$ >&2; cat"}})
	c.mustStop()
	var session, pid int
	if _, err := fmt.Sscan(c.output.String(), &session, &pid); err != nil {
		t.Fatalf("%v in %q", err, c.output.String())
	}
	if session != pid {
		t.Errorf("process %d belongs to session %d", pid, session)
	}
}

// TestKillAllKillsWhatLeftTheGroup: after a second signal trailblaze exits as soon as KillAll returns.
func TestKillAllKillsWhatLeftTheGroup(t *testing.T) {
	t.Parallel()
	for role, args := range map[string][]string{"grandchild": {"new session"}, "many grandchildren": nil} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			c := start(t, role, args...)
			c.echoes()
			c.untilReady()
			c.sup.limits.killAll = limit // a busy machine may take longer than the usual second
			c.sup.KillAll()
			if left := spawntest.Survivors(c.marker); len(left) > 0 {
				t.Errorf("survivors %q", left)
			}
		})
	}
}

// TestProcessesWithoutEnvironmentEndWithTheLastServer: only their parent, which has exited, led to their server. The
// supervisor is in a process of its own, because servers of other tests might have started them.
func TestProcessesWithoutEnvironmentEndWithTheLastServer(t *testing.T) {
	t.Parallel()
	marker := "36" + strings.TrimLeft(fmt.Sprint(time.Now().UnixNano())[6:], "0")
	cmd := exec.CommandContext(t.Context(), self(t), marker)
	cmd.Env = append(os.Environ(), roleVariable+"=supervisor")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, id := range proc.All() {
		if strings.Contains(proc.Command(id.PID), marker) {
			t.Errorf("process %d survives: %s", id.PID, proc.Command(id.PID))
			id.Kill()
		}
	}
}

func TestKillAllKillsDaemons(t *testing.T) {
	t.Parallel()
	c := start(t, "grandchild", "daemon")
	c.echoes()
	until(t, "there is a daemon", func() bool {
		return hasDaemon(c.marker)
	})
	c.sup.limits.killAll = limit
	c.sup.KillAll()
	if left := spawntest.Survivors(c.marker); len(left) > 0 {
		t.Errorf("survivors %q", left)
	}
}

// TestEndedProcessLeavesNoFileOpen is not parallel: it counts the files of the whole process.
//
//nolint:paralleltest // see above
func TestEndedProcessLeavesNoFileOpen(t *testing.T) {
	count := func() int {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	startAndStop := func() {
		sup := NewSupervisor(Options{StateDir: t.TempDir()})
		for _, command := range []string{"/bin/cat", "/no/such/command", "/dev"} {
			p, err := sup.Start(t.Context(), Spec{Command: command})
			if err == nil {
				err = p.Stop(t.Context())
			} else if command != "/bin/cat" {
				err = nil
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := sup.Close(); err != nil {
			t.Fatal(err)
		}
	}
	startAndStop() // what is opened once and for all, such as the poller
	before := count()
	for range 20 {
		startAndStop()
	}
	if after := count(); after != before {
		t.Errorf("%d files are open, %d before", after, before)
	}
}
