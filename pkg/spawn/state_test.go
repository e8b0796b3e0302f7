//go:build unix

package spawn

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

const runID = "TRAILBLAZE_RUN_ID=r1"

// owner is a trailblaze that is killed. Its arguments are the state folder and the processes to start, each a role and
// an argument. It prints "ready" when all of them have started.
func owner(args []string) {
	sup := NewSupervisor(Options{StateDir: args[0]})
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	for _, arg := range args[1:] {
		role, kind, _ := strings.Cut(arg, ":")
		lines := make(chan string)
		p, err := sup.Start(context.Background(), Spec{
			Name: role, Command: self, Args: []string{kind}, Env: append(os.Environ(), roleVariable+"="+role),
			Stdout: func(_ context.Context, stdout io.Reader) {
				line, _ := bufio.NewReader(stdout).ReadString('\n')
				lines <- line
			},
		})
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(p.Stdin(), "hello\n")
		if line := <-lines; line != "hello\n" {
			panic(line)
		}
		for strings.Contains(role, "grandchild") && !strings.Contains(p.Stderr(), "ready") {
			<-time.After(time.Millisecond)
		}
	}
	fmt.Println("ready")
	untilKilled()
}

// startOwner starts an owner and waits until its processes have started.
func startOwner(t *testing.T, processes ...string) (cmd *exec.Cmd, dir, marker string) {
	t.Helper()
	dir, marker = t.TempDir(), spawntest.Marker()
	cmd = exec.CommandContext(t.Context(), self(t), append([]string{dir}, processes...)...)
	cmd.Env = append(os.Environ(), roleVariable+"=owner", marker, "GORACE=atexit_sleep_ms=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_, _ = Reap(dir)
		spawntest.NoSurvivors(t, marker)
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the owner wrote %q, %v", line, err)
	}
	return cmd, dir, marker
}

func TestReapKillsWhatAKilledRunLeft(t *testing.T) {
	t.Parallel()
	cmd, dir, marker := startOwner(t, "ignores SIGTERM", "grandchild:same group")
	// A run that is still running is left alone.
	if found, err := Reap(dir); err != nil || len(found) != 0 {
		t.Errorf("of a running run: %+v, %v", found, err)
	}
	if n := len(spawntest.Survivors(marker)); n < 4 {
		t.Errorf("%d processes, want the owner, two servers and a grandchild", n)
	}

	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	awaitSecondLeader(t, dir)
	found, err := Reap(dir)
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"ignores SIGTERM", "grandchild"}, names(found)); diff != "" {
		t.Fatalf("reaped (-want +got):\n%s", diff)
	}
	if found[0].Command != self(t) {
		t.Errorf("the command is %q", found[0].Command)
	}
	if left := spawntest.Survivors(marker); len(left) != 0 {
		t.Errorf("survivors: %q", left)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("state files are left: %v", files)
	}
	if again, err := Reap(dir); err != nil || len(again) != 0 {
		t.Errorf("a second time: %+v, %v", again, err)
	}
}

// awaitSecondLeader waits until the second leader, which exits at the end of its input, has exited.
func awaitSecondLeader(t *testing.T, dir string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) != 1 {
		t.Fatalf("state files %q", files)
	}
	until(t, "the second leader has exited", func() bool { return !mustReadState(t, files[0]).Processes[1].Running() })
}

func names(all []Leftover) []string {
	var names []string
	for _, l := range all {
		names = append(names, l.Name)
	}
	return names
}

func mustReadState(t *testing.T, file string) stateFile {
	t.Helper()
	s, err := readState(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func writeState(t *testing.T, s stateFile) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, "1-1.json")
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

// unrelated starts a process that has nothing to do with us, in a group of its own.
func unrelated(t *testing.T, env ...string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sleep", "3600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// leaderless starts a group, and returns its id and its only member once the leader has exited.
func leaderless(t *testing.T, env ...string) (group, member int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "sleep 3600 >/dev/null 2>&1 & echo $!")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(out), &member); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(member, syscall.SIGKILL) })
	return cmd.Process.Pid, member
}

func TestReapLeavesUnrelatedProcessesAlone(t *testing.T) {
	t.Parallel()
	ended := proc.ID{PID: 1 << 30, Start: "1"}
	const ofThree = "TRAILBLAZE_RUN_ID=r3"
	one, two, three := unrelated(t, "TRAILBLAZE_TEST=one"), unrelated(t), unrelated(t, ofThree)
	group, member := leaderless(t, "TRAILBLAZE_RUN_ID=r2")
	here := proc.Scope()
	shop := func(id proc.ID) []*entry { return []*entry{{ID: id, Name: "shop", Command: "x"}} }
	for _, c := range []struct {
		name string
		file stateFile
	}{
		{"the id was reused", stateFile{here, ended, runID, nil, shop(proc.ID{PID: one, Start: "1"})}},
		{"no start time", stateFile{here, ended, runID, nil, shop(proc.ID{PID: one})}},
		{"the group has no leader, and another run's id", stateFile{here, ended, runID, nil, shop(proc.ID{PID: group, Start: "1"})}},
		{"the group has no leader, and no run's id is known", stateFile{here, ended, "", nil, shop(proc.ID{PID: group, Start: "1"})}},
		{"another boot", stateFile{"before", ended, ofThree, nil, shop(proc.Find(two))}},
		{"an entry that is not a run's id", stateFile{here, ended, "TRAILBLAZE_TEST=one", nil, nil}},
		{"our own group", stateFile{here, ended, runID, nil, append(shop(proc.ID{}), shop(proc.ID{PID: -1})...)}},
		{"the owner is running", stateFile{here, proc.Find(os.Getpid()), ofThree, nil, shop(proc.Find(two))}},
		{"nobody has the pipes", stateFile{here, ended, runID, nil, []*entry{{Pipes: []uint64{1 << 62}}}}},
	} {
		dir, _ := writeState(t, c.file)
		if found, err := Reap(dir); err != nil || len(found) != 0 {
			t.Errorf("%s: reaped %+v, %v", c.name, found, err)
		}
		for _, pid := range []int{one, two, three, member} {
			if proc.Find(pid).Start == "" {
				t.Fatalf("%s: it killed %d", c.name, pid)
			}
		}
	}
	// The control: with the right start time it would have.
	dir, _ := writeState(t, stateFile{here, ended, "", nil, shop(proc.Find(two))})
	if found, err := Reap(dir); err != nil || len(found) != 1 || proc.Find(two).Start != "" {
		t.Errorf("reaped %+v, %v", found, err)
	}
}

func TestStateFileOfAnotherBootIsKeptUntilItIsOld(t *testing.T) {
	t.Parallel()
	dir, file := writeState(t, stateFile{Scope: "elsewhere", Owner: proc.ID{PID: 1 << 30, Start: "1"}})
	if _, err := Reap(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("a new file: %v", err)
	}
	old := time.Now().Add(-2 * foreignAge)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := Reap(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("an old file is still there")
	}
}

func TestCorruptStateFileIsHarmless(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty.json": "", "half.json": `{"scope":"x","owner":{"pid"`, "null.json": "null", "types.json": `{"processes":5,"owner":"x"}`,
		"binary.json": "\x00\xff", "list.json": "[]", "huge pid.json": `{"processes":[{"pid":99999999999999999999}]}`,
		"null process.json": `{"scope":"` + proc.Scope() + `","processes":[null]}`, "other.txt": "mine",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero.json")); err != nil {
		t.Fatal(err)
	}
	if found, err := Reap(dir); err != nil || len(found) != 0 {
		t.Errorf("reaped %+v, %v", found, err)
	}
	var left []string
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		left = append(left, f.Name())
	}
	if diff := cmp.Diff([]string{"fifo.json", "folder.json", "other.txt", "zero.json"}, left); diff != "" {
		t.Errorf("files left (-want +got):\n%s", diff)
	}
	if found, err := Reap(filepath.Join(dir, "no", "such", "folder")); err != nil || len(found) != 0 {
		t.Errorf("no folder: %+v, %v", found, err)
	}
	if found, err := Reap(""); err != nil || len(found) != 0 {
		t.Errorf("no state: %+v, %v", found, err)
	}
}

func TestStateFileListsRunningProcessesAndIsRemovedWithTheRun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "yet", "there")
	sup := NewSupervisor(Options{StateDir: dir})
	var running []*Process
	for _, name := range []string{"one", "two"} {
		p, err := sup.Start(t.Context(), Spec{Name: name, Command: self(t), Args: []string{"--password=secret"}, Env: []string{
			roleVariable + "=echo", "GORACE=atexit_sleep_ms=0", "TRAILBLAZE_RUN_ID=overridden",
		}})
		if err != nil {
			t.Fatal(err)
		}
		running = append(running, p)
	}
	file := func() string {
		t.Helper()
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		if len(files) != 1 {
			t.Fatalf("files %v", files)
		}
		return files[0]
	}
	content := mustReadState(t, file())
	want := []*entry{}
	for i, p := range running {
		want = append(want, &entry{ID: proc.Find(p.backend.pid()), Name: []string{"one", "two"}[i], Command: self(t), Pipes: p.inodes})
	}
	if diff := cmp.Diff(want, content.Processes); diff != "" || content.RunID != sup.runID {
		t.Errorf("run %q, processes (-want +got):\n%s", content.RunID, diff)
	}
	if data, _ := os.ReadFile(file()); strings.Contains(string(data), "secret") {
		t.Error("arguments are in the file")
	}
	if err := running[0].Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := mustReadState(t, file()).Processes; len(left) != 1 || left[0].Name != "two" {
		t.Errorf("after one ended: %+v", left)
	}
	if err := running[1].Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := sup.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("files after closing: %v", files)
	}
}

func TestStateFileWithRunningProcessesIsKept(t *testing.T) {
	t.Parallel()
	for _, stopped := range []bool{true, false} {
		s := state{dir: t.TempDir(), warn: func(message string) { t.Error(message) }}
		p := &Process{plan: plan{argv: []string{"sleep"}}}
		s.add(p)
		if stopped {
			s.remove(p)
		}
		s.close()
		if _, err := os.Stat(s.path); (err == nil) == stopped {
			t.Errorf("stopped %t: %v", stopped, err)
		}
	}
}

func TestStateFileThatCannotBeWrittenIsOneWarning(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var warnings atomic.Int32
	sup := NewSupervisor(Options{StateDir: file, Log: func(level, message, _ string) {
		if warnings.Add(1); level != "warn" || !strings.HasPrefix(message, "processes of this run could not be found") {
			t.Errorf("%s: %s", level, message)
		}
	}})
	for range 2 {
		p, err := sup.Start(t.Context(), Spec{Name: "shop", Command: self(t), Env: []string{roleVariable + "=echo", "GORACE=atexit_sleep_ms=0"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := sup.Close(); err != nil {
		t.Error(err)
	}
	if n := warnings.Load(); n != 1 {
		t.Errorf("%d warnings", n)
	}
}

func TestStateFileIsWrittenAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	var warnings int
	s := state{dir: t.TempDir(), warn: func(string) { warnings++ }}
	server := func(name string) *Process {
		return &Process{plan: plan{spec: Spec{Name: name}, argv: []string{"sleep"}}}
	}
	one, two := server("one"), server("two")
	s.add(one)
	if err := errors.Join(os.Remove(s.path), os.Mkdir(s.path, 0o700)); err != nil { // no file replaces a folder
		t.Fatal(err)
	}
	s.add(two)
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	s.remove(one)
	if left := mustReadState(t, s.path).Processes; len(left) != 1 || left[0].Name != "two" || warnings != 1 {
		t.Errorf("the file has %+v, after %d warnings", left, warnings)
	}
}

func TestZombiesDoNotCountAsRunning(t *testing.T) {
	t.Parallel()
	marker := spawntest.Marker()
	cmd := exec.CommandContext(t.Context(), "sleep", "3600")
	cmd.Env = append(os.Environ(), marker)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if found := spawntest.Survivors(marker); !slices.Contains(found, fmt.Sprintf("%d sleep 3600", cmd.Process.Pid)) {
		t.Errorf("survivors %q", found)
	}
	_ = cmd.Process.Kill()
	spawntest.NoSurvivors(t, marker) // it is not waited for yet
	deadline := time.Now().Add(10 * time.Second)
	for proc.Find(cmd.Process.Pid).Start != "" { // its environment is gone before it is a zombie
		if time.Now().After(deadline) {
			t.Fatal("it has a start time")
		}
		<-time.After(time.Millisecond)
	}
	_ = cmd.Wait()
}
