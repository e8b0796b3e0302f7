package spawn

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

func TestAServerHasItsOwnSessionAndNoFilesOfOurs(t *testing.T) {
	t.Parallel()
	ours, err := os.Create(filepath.Join(t.TempDir(), "ours"))
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	files := startSpec(t, Spec{Command: "ls", Args: []string{"-l", "/proc/self/fd"}})
	files.waitDone()
	if log := files.logged(); strings.Contains(log, ours.Name()) || strings.Count(log, "pipe:") < 3 {
		t.Errorf("it has these files open:\n%s", log)
	}
	s := startSpec(t, Spec{Command: "sh", Args: []string{"-c", "cut -d' ' -f6 /proc/$$/stat >&2; echo $$ >&2; cat"}})
	s.mustStop()
	var session, pid int
	if _, err := fmt.Sscan(s.logged(), &session, &pid); err != nil {
		t.Fatalf("%v in %q", err, s.logged())
	}
	if session != pid {
		t.Errorf("process %d belongs to session %d", pid, session)
	}
}

func TestADetachedChildThatHoldsThePipesIsGoneWithItsServer(t *testing.T) {
	t.Parallel()
	s := launch(t, finder(t, "node"), Spec{Script: project(t, "detached.mjs", "{}"), Env: os.Environ()})
	deadline := time.Now().Add(limit)
	for len(spawntest.Survivors(s.marker)) < 2 && time.Now().Before(deadline) {
		<-time.After(time.Millisecond)
	}
	if took := s.mustStop(); took > CloseGrace-time.Second {
		t.Errorf("stopping took %s", took)
	}
	spawntest.NoSurvivors(t, s.marker)
}

// TestAFinishedProcessLeavesNoFileOpen is not parallel: it counts the files of the whole process.
//
//nolint:paralleltest // see above
func TestAFinishedProcessLeavesNoFileOpen(t *testing.T) {
	count := func() int {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	lives := func() {
		sup := NewSupervisor(Options{StateDir: t.TempDir()})
		for _, command := range []string{"/bin/cat", "/no/such/command", "/dev"} {
			p, err := sup.Start(t.Context(), Spec{Command: command, LogPath: filepath.Join(t.TempDir(), "log")})
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
	lives() // what is opened once and for all, such as the poller
	before := count()
	for range 20 {
		lives()
	}
	if after := count(); after != before {
		t.Errorf("%d files are open, %d before", after, before)
	}
}
