package spawn

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// TestReapKillsWhatLeftTheGroupOfAKilledRun: processes in a group or a session of their own hold the pipes of a server
// that has exited at the end of its input, or still starts more of them.
func TestReapKillsWhatLeftTheGroupOfAKilledRun(t *testing.T) {
	t.Parallel()
	for _, process := range []string{"grandchild:new group", "grandchild:new session", "many grandchildren:"} {
		t.Run(process, func(t *testing.T) {
			t.Parallel()
			cmd, dir, marker := startOwner(t, process)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if strings.HasPrefix(process, "grandchild") {
				until(t, "the server has exited", func() bool { return !strings.Contains(strings.Join(spawntest.Survivors(marker), "\n"), self(t)) })
			}
			found, err := Reap(dir)
			if err != nil {
				t.Error(err)
			}
			name, _, _ := strings.Cut(process, ":")
			if diff := cmp.Diff([]string{name}, names(found)); diff != "" {
				t.Errorf("reaped (-want +got):\n%s", diff)
			}
			if left := spawntest.Survivors(marker); len(left) > 0 {
				t.Errorf("survivors %q", left)
			}
		})
	}
}

// TestReapKillsDaemonsOfAKilledRun: they have neither the pipes nor the session of their server, which exits at the end
// of its input. Only their environment identifies their run.
func TestReapKillsDaemonsOfAKilledRun(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"daemon", "fork storm"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			cmd, dir, marker := startOwner(t, role)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
			if len(files) != 1 {
				t.Fatalf("state files %q", files)
			}
			until(t, "the server has exited", func() bool { return !mustReadState(t, files[0]).Processes[0].Running() })
			found, err := Reap(dir)
			if err != nil {
				t.Error(err)
			}
			if len(found) != 1 || !strings.HasPrefix(found[0].String(), "daemons that servers started, process [") {
				t.Errorf("reaped %v", found)
			}
			if left := spawntest.Survivors(marker); len(left) > 0 {
				t.Errorf("survivors %q", left)
			}
		})
	}
}

// TestReapLeavesADBRunning: its daemon is started by the first run that needs it, and others use it.
func TestReapLeavesADBRunning(t *testing.T) {
	t.Parallel()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	adb := exec.CommandContext(t.Context(), sleep, "3600")
	adb.Args[0], adb.Env = "/opt/sdk/adb", append(os.Environ(), runID+"-adb")
	if err := adb.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = adb.Process.Kill()
		_ = adb.Wait()
	}()
	dir, _ := writeState(t, stateFile{Scope: proc.Scope(), Owner: proc.ID{PID: 1 << 30, Start: "1"}, RunID: runID + "-adb", Keep: []string{"adb"}})
	if found, err := Reap(dir); err != nil || len(found) != 0 {
		t.Errorf("reaped %v, %v", found, err)
	}
	if proc.Find(adb.Process.Pid).Start == "" {
		t.Error("adb was killed")
	}
}

// TestReapKillsAServerWhoseStartWasNotRecorded: trailblaze may be killed between starting a server and recording its
// pid.
func TestReapKillsAServerWhoseStartWasNotRecorded(t *testing.T) {
	t.Parallel()
	marker := spawntest.Marker()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd := exec.CommandContext(t.Context(), "sleep", "3600")
	cmd.Env, cmd.Stdout = append(os.Environ(), marker), out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	sup := NewSupervisor(Options{StateDir: t.TempDir()})
	p := &Process{plan: plan{spec: Spec{Name: "shop"}, argv: []string{"sleep"}}, inodes: inodesOf(in)}
	_ = out.Close()
	sup.state.add(p)
	s := mustReadState(t, sup.state.path)
	s.Owner = proc.ID{PID: 1 << 30, Start: "1"}
	dir, _ := writeState(t, s)
	found, err := Reap(dir)
	if err != nil || len(found) != 1 || len(found[0].PIDs) != 1 || found[0].PIDs[0] != cmd.Process.Pid {
		t.Errorf("reaped %+v, %v, want %d", found, err, cmd.Process.Pid)
	}
	spawntest.NoSurvivors(t, marker)
}
