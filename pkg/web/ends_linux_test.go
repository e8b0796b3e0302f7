package web

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// childProcess is the test binary in that role, in a folder for temporary files of its own.
type childProcess struct {
	t         *testing.T
	cmd       *exec.Cmd
	dir       string
	processes []string // of the browser, each as "id start"
}

func startRole(t *testing.T, role string) childProcess {
	t.Helper()
	dir, marker := shortDir(t), spawntest.Marker()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, "TMPDIR="+dir, marker, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("it says %q, %v", line, err)
	}
	var processes []string
	for _, found := range spawntest.Survivors(marker) {
		id, _, _ := strings.Cut(found, " ")
		if pid, _ := strconv.Atoi(id); pid != cmd.Process.Pid {
			processes = append(processes, processFamily(pid)...)
		}
	}
	slices.Sort(processes)
	if processes = slices.Compact(processes); len(processes) < 4 {
		t.Fatalf("a browser of %d processes", len(processes))
	}
	if profiles, _ := filepath.Glob(dir + "/trailblaze-*"); len(profiles) != 1 {
		t.Fatalf("profiles: %v", profiles)
	}
	return childProcess{t, cmd, dir, processes}
}

// processFamily is a process with all of its session and all that these have started.
func processFamily(pid int) []string {
	type process struct{ parent, session, start string }
	all := map[string]process{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if data, err := os.ReadFile(dir + "/stat"); err == nil {
			fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
			all[filepath.Base(dir)] = process{fields[1], fields[3], fields[19]}
		}
	}
	found := map[string]bool{strconv.Itoa(pid): true}
	session := all[strconv.Itoa(pid)].session
	for grown := true; grown; {
		grown = false
		for id, p := range all {
			if !found[id] && (p.session == session || found[p.parent]) {
				found[id], grown = true, true
			}
		}
	}
	var list []string
	for id := range found {
		list = append(list, id+" "+all[id].start)
	}
	return list
}

// isAlive says whether a process, given as "id start", still runs.
func isAlive(process string) bool {
	id, start, _ := strings.Cut(process, " ")
	data, err := os.ReadFile("/proc/" + id + "/stat")
	if err != nil {
		return false
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	return fields[0] != "Z" && fields[0] != "X" && fields[19] == start
}

// waitUntilNothingLeft fails the test unless processes and files are gone soon.
func (b childProcess) waitUntilNothingLeft() {
	b.t.Helper()
	waitFor(b.t, "the end of all processes", func() bool { return !slices.ContainsFunc(b.processes, isAlive) })
	waitFor(b.t, "the removal of the profile", func() bool {
		files, err := os.ReadDir(b.dir)
		return err == nil && len(files) == 0
	})
}

func TestNoProcessOrFileRemains(t *testing.T) {
	t.Parallel()
	for role, sig := range map[string]syscall.Signal{
		"ends": syscall.SIGTERM, "second signal": syscall.SIGTERM,
		"is killed": syscall.SIGKILL,
	} {
		t.Run("when trailblaze "+role, func(t *testing.T) {
			t.Parallel()
			b := startRole(t, role)
			if err := b.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			err := b.cmd.Wait()
			if sig == syscall.SIGTERM {
				if err != nil {
					t.Error(err)
				}
				alive := slices.DeleteFunc(slices.Clone(b.processes), func(p string) bool { return !isAlive(p) })
				if left, _ := os.ReadDir(b.dir); len(left) > 0 || len(alive) > 0 {
					t.Errorf("it ended before its browser: processes %q, files %v", alive, left)
				}
			}
			b.waitUntilNothingLeft()
		})
	}
}

func TestKilledBrowserIsReplaced(t *testing.T) {
	t.Parallel()
	b := newTestBackend(t, nil)
	u := openSessionIn(t, b, device.Session{})
	u.mustCall("navigate", "url", "about:blank")
	pid := u.page().browser.LostError().Details["pid"].(int)
	var browser int
	for _, process := range processFamily(pid) {
		id, _, _ := strings.Cut(process, " ")
		data, _ := os.ReadFile("/proc/" + id + "/cmdline")
		is := func(part string) bool { return strings.Contains(string(data), part) }
		if is("--remote-debugging-pipe") && !is("/bin/sh") && !is("--type=") {
			browser, _ = strconv.Atoi(id)
		}
	}
	if browser == 0 { // which would be the group of this process
		t.Fatal("the process of the browser was not found")
	}
	began := time.Now()
	time.AfterFunc(100*time.Millisecond, func() { _ = syscall.Kill(browser, syscall.SIGKILL) })
	_, err := u.call("web_wait", "seconds", 30)
	if fault.KindOf(err) != fault.Crashed || !strings.Contains(err.Error(), "exited") ||
		!strings.Contains(err.Error(), "code 137") {
		t.Errorf("the call that ran: %v", err)
	}
	if took := time.Since(began); took > testLimit {
		t.Errorf("it took %s to notice", took)
	}
	if err := <-u.broken; fault.KindOf(err) != fault.Crashed {
		t.Errorf("the session was told %v", err)
	}
	if _, err := u.call("web_currentUrl"); fault.KindOf(err) != fault.Crashed {
		t.Errorf("a later call: %v", err)
	}
	if shown := u.device.Evidence(t.Context()); len(shown) != 1 || shown[0].Name != "page.txt" {
		t.Errorf("the evidence is %v", shown)
	}
	next := openSessionIn(t, b, device.Session{})
	next.mustCall("navigate", "url", "about:blank")
}
