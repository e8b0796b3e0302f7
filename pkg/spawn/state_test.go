//go:build unix

package spawn

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
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

const session = sessionVariable + "s1"

// owner plays a trailblaze that is killed: it starts a server that ignores the end of its input, and one that does not but
// leaves a grandchild.
func owner(args []string) {
	sup := NewSupervisor(Options{StateDir: args[0]})
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	for _, role := range []string{"ignores SIGTERM", "grandchild"} {
		p, err := sup.Start(context.Background(), Spec{
			Name: role, Command: self, Args: []string{"clinging"}, Env: append(os.Environ(), roleVariable+"="+role, session),
			LogPath: filepath.Join(args[1], strings.Fields(role)[0]),
		})
		if err != nil {
			panic(err)
		}
		conn, _ := p.Transport().Connect(context.Background())
		if err := conn.Write(context.Background(), request1()); err != nil {
			panic(err)
		}
		if _, err := conn.Read(context.Background()); err != nil {
			panic(err)
		}
	}
	fmt.Println("ready")
	untilKilled()
}

func TestWhatAKilledRunLeavesIsFoundAndReaped(t *testing.T) {
	t.Parallel()
	dir, logs, marker := t.TempDir(), t.TempDir(), spawntest.Marker()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, self(t), dir, logs)
	cmd.Env = append(os.Environ(), roleVariable+"=owner", marker, "GORACE=atexit_sleep_ms=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the owner says %q, %v", line, err)
	}
	waitForText(t, filepath.Join(logs, "grandchild"), "ready")
	// A run that lives is left alone.
	if found, err := Reap(dir); err != nil || len(found) != 0 {
		t.Errorf("of a living run: %+v, %v", found, err)
	}
	if n := len(spawntest.Survivors(marker)); n < 4 {
		t.Errorf("%d processes, want the owner, two servers and a grandchild", n)
	}

	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	found := leftoversOnceLeaderless(t, dir)
	if diff := cmp.Diff([]string{"ignores SIGTERM", "grandchild"}, names(found)); diff != "" {
		t.Errorf("leftovers (-want +got):\n%s", diff)
	}
	if found[0].Command != self(t) {
		t.Errorf("the command is %q", found[0].Command)
	}
	reaped, err := Reap(dir)
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(names(found), names(reaped)); diff != "" {
		t.Errorf("reaped (-found +reaped):\n%s", diff)
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

// leftoversOnceLeaderless waits until the leader that heeds the end of its input has exited.
func leftoversOnceLeaderless(t *testing.T, dir string) []Leftover {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		found, err := Leftovers(dir)
		if err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
		if len(found) == 2 && len(files) == 1 {
			if content := readState(t, files[0]); !content.Processes[1].alive() {
				return found
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("leftovers %+v in %v", found, files)
		}
		<-time.After(time.Millisecond)
	}
}

func waitForText(t *testing.T, file, text string) {
	t.Helper()
	for deadline := time.Now().Add(limit); ; <-time.After(time.Millisecond) {
		if data, _ := os.ReadFile(file); strings.Contains(string(data), text) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s never says %q", file, text)
		}
	}
}

func names(all []Leftover) []string {
	var names []string
	for _, l := range all {
		names = append(names, l.Name)
	}
	return names
}

func readState(t *testing.T, file string) stateFile {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s stateFile
	if err := json.Unmarshal(data, &s); err != nil {
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

// innocent starts a process that has nothing to do with us, in a group of its own.
func innocent(t *testing.T, env ...string) int {
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

// leaderless starts a group, and returns its id and its only member once the leader is gone.
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

func TestReapNeverKillsAnInnocent(t *testing.T) {
	t.Parallel()
	dead := identity{1 << 30, "1"}
	stranger, twin := innocent(t), innocent(t)
	group, member := leaderless(t, sessionVariable+"another")
	here := proc.Scope()
	for _, c := range []struct {
		name string
		file stateFile
	}{
		{"the id was reused", stateFile{here, dead, []entry{{identity{stranger, "1"}, "shop", "x", session, ""}}}},
		{"no start time", stateFile{here, dead, []entry{{identity{stranger, ""}, "shop", "x", session, ""}}}},
		{"the group has no leader, and another session", stateFile{here, dead, []entry{{identity{group, "1"}, "shop", "x", session, ""}}}},
		{"the group has no leader, and no session is known", stateFile{here, dead, []entry{{identity{group, "1"}, "shop", "x", "", ""}}}},
		{"another boot", stateFile{"before", dead, []entry{{identity{twin, proc.Start(twin)}, "shop", "x", session, ""}}}},
		{"our own group", stateFile{here, dead, []entry{{identity{0, ""}, "shop", "x", session, ""}, {identity{-1, ""}, "shop", "x", session, ""}}}},
		{"the owner lives", stateFile{here, identity{os.Getpid(), proc.Start(os.Getpid())}, []entry{
			{identity{twin, proc.Start(twin)}, "shop", "x", session, ""},
		}}},
	} {
		dir, _ := writeState(t, c.file)
		if found, err := Reap(dir); err != nil || len(found) != 0 {
			t.Errorf("%s: reaped %+v, %v", c.name, found, err)
		}
		for _, pid := range []int{stranger, twin, member} {
			if proc.Start(pid) == "" {
				t.Fatalf("%s: it killed %d", c.name, pid)
			}
		}
	}
	// The control: with the right start time it would have.
	dir, _ := writeState(t, stateFile{here, dead, []entry{{identity{twin, proc.Start(twin)}, "shop", "x", "", ""}}})
	if found, err := Reap(dir); err != nil || len(found) != 1 || proc.Start(twin) != "" {
		t.Errorf("reaped %+v, %v", found, err)
	}
}

func TestTheFileOfAnotherBootIsKeptUntilItIsOld(t *testing.T) {
	t.Parallel()
	dir, file := writeState(t, stateFile{Scope: "elsewhere", Owner: identity{1 << 30, "1"}})
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

func TestACorruptStateFileIsHarmless(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty.json": "", "half.json": `{"scope":"x","owner":{"pid"`, "null.json": "null", "types.json": `{"processes":5,"owner":"x"}`,
		"binary.json": "\x00\xff", "list.json": "[]", "huge pid.json": `{"processes":[{"pid":99999999999999999999}]}`, "other.txt": "mine",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if found, err := Leftovers(dir); err != nil || len(found) != 0 {
		t.Errorf("leftovers %+v, %v", found, err)
	}
	if found, err := Reap(dir); err != nil || len(found) != 0 {
		t.Errorf("reaped %+v, %v", found, err)
	}
	var left []string
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		left = append(left, f.Name())
	}
	if diff := cmp.Diff([]string{"folder.json", "other.txt"}, left); diff != "" {
		t.Errorf("files left (-want +got):\n%s", diff)
	}
	if found, err := Reap(filepath.Join(dir, "no", "such", "folder")); err != nil || len(found) != 0 {
		t.Errorf("no folder: %+v, %v", found, err)
	}
	if found, err := Reap(""); err != nil || len(found) != 0 {
		t.Errorf("no state: %+v, %v", found, err)
	}
}

func TestTheStateFileListsWhatRunsAndGoesWithTheRun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "yet", "there")
	sup := NewSupervisor(Options{StateDir: dir})
	spec := func(name string) Spec {
		return Spec{Name: name, Command: self(t), Args: []string{"--password=secret"}, Env: []string{
			roleVariable + "=polite", "GORACE=atexit_sleep_ms=0", "TRAILBLAZE_SESSION_ID=overridden", session,
		}}
	}
	var running []*Process
	for _, name := range []string{"one", "two"} {
		p, err := sup.Start(t.Context(), spec(name))
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
	content := readState(t, file())
	want := []entry{}
	for i, p := range running {
		want = append(want, entry{identity{p.body.pid(), proc.Start(p.body.pid())}, []string{"one", "two"}[i], self(t), session, ""})
	}
	if diff := cmp.Diff(want, content.Processes, cmp.AllowUnexported(entry{}, identity{})); diff != "" {
		t.Errorf("processes (-want +got):\n%s", diff)
	}
	if data, _ := os.ReadFile(file()); strings.Contains(string(data), "secret") {
		t.Error("arguments are in the file")
	}
	if err := running[0].Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := readState(t, file()).Processes; len(left) != 1 || left[0].Name != "two" {
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

func TestAStateFileThatCannotBeWrittenCostsOneWarning(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var warnings atomic.Int32
	sup := NewSupervisor(Options{StateDir: file, Log: func(level, message, _ string) {
		if warnings.Add(1); level != "warn" || !strings.HasPrefix(message, "leftovers of this run") {
			t.Errorf("%s: %s", level, message)
		}
	}})
	for range 2 {
		p, err := sup.Start(t.Context(), Spec{Name: "shop", Command: self(t), Env: []string{roleVariable + "=polite", "GORACE=atexit_sleep_ms=0"}})
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

func TestZombiesCountAsGone(t *testing.T) {
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
	if proc.Start(cmd.Process.Pid) != "" {
		t.Error("it has a start time")
	}
	_ = cmd.Wait()
}
