// Package spawntest finds the browser for tests and processes that a test left running, directly or indirectly, and
// writes programs for tests to start. It is for tests of any package that starts processes, directly or through the
// program.
//
// A test puts a marker into the environment of what it starts; everything started from there inherits it.
package spawntest

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
)

// TB is the part of testing.TB that is needed.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// limit is for processes that are being killed, on a machine that is busy with other tests.
const limit = 10 * time.Second

// WriteProgram writes a file that can be executed. No process is forked meanwhile: it would have the file open for
// writing, and a program that is open for writing cannot be executed.
func WriteProgram(path string, content []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, 0o755) //nolint:gosec // a program
}

// Chromium returns the path of a real browser, and no other than TRAILBLAZE_BROWSER if it is set. Without one it ends
// the test.
func Chromium(t TB) string {
	t.Helper()
	return chromium(t, os.Getenv("TRAILBLAZE_BROWSER")) //nolint:forbidigo // only tests call it
}

// App returns the path of a browser that can be an app with windows, as Electron is one: Chromium, but no headless shell.
func App(t TB) string {
	t.Helper()
	configured := os.Getenv("TRAILBLAZE_BROWSER") //nolint:forbidigo // only tests call it
	if strings.Contains(configured, "headless") {
		configured = ""
	}
	return chromium(t, configured)
}

func chromium(t TB, configured string) string {
	t.Helper()
	const onMac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
	names := []string{"chromium", "chromium-browser", "google-chrome", onMac}
	if configured != "" {
		names = []string{configured}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal(names[0] + " is missing: run make deps as root, or install Chromium (package chromium) or Google Chrome")
	return ""
}

// HeadlessShell returns the path of a headless shell, or of the browser of TRAILBLAZE_BROWSER. Without one it ends the
// test.
func HeadlessShell(t TB) string {
	t.Helper()
	for _, name := range []string{os.Getenv("TRAILBLAZE_BROWSER"), "chromium-headless-shell", "chrome-headless-shell"} { //nolint:forbidigo // only tests call it
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("a headless shell is missing: run make deps as root, or install chromium-headless-shell")
	return ""
}

// Marker returns a unique environment entry, NAME=value.
func Marker() string { return "TRAILBLAZE_TEST_MARKER=" + rand.Text() }

// Survivors returns the running processes that have marker in their environment, each as "pid command". Zombies do not
// count. Processes of other users are not seen. On Windows there are never any: a job leaves none.
func Survivors(marker string) []string {
	var found []string
	for _, id := range proc.All() {
		if id.HasEnv(marker) {
			found = append(found, fmt.Sprintf("%d %s", id.PID, proc.Command(id.PID)))
		}
	}
	return found
}

// NoSurvivors fails the test unless all processes with marker end soon.
func NoSurvivors(t TB, marker string) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		found := Survivors(marker)
		if len(found) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("processes survive: %q", found)
			return
		}
		<-time.After(5 * time.Millisecond)
	}
}
