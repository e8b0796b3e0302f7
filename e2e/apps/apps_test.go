//go:build apps

// Package apps_test replays the trails of real apps, which `make test-apps` installs.
package apps_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var (
	program = flag.String("program", "../../bin/trailblaze", "the trailblaze to run")
	repeats = flag.Int("repeats", 20, "how often each trail is replayed")
)

// Each repetition starts a new app, by `webServer` of its project, and replays all its trails in it, one after another.
//
//nolint:paralleltest // each app gets the whole machine
func TestTrailsOfRealAppsPass(t *testing.T) {
	projects, err := filepath.Glob("*/trailblaze.yaml")
	if err != nil || len(projects) == 0 {
		t.Fatalf("no apps: %v", err)
	}
	for _, project := range projects {
		app := filepath.Dir(project)
		t.Run(app, func(t *testing.T) {
			trails, err := filepath.Glob(app + "/trails/*.trail.yaml")
			if err != nil || len(trails) == 0 {
				t.Fatalf("no trails: %v", err)
			}
			passed := 0
			for range *repeats {
				passed += replay(t, app, len(trails))
			}
			fmt.Printf("%s: %d trails, %d of %d passed\n", app, len(trails), passed, len(trails)**repeats)
		})
	}
}

// replay returns how many of the trails of an app passed in a new one.
func replay(t *testing.T, app string, trails int) int {
	t.Helper()
	addr := freeAddress(t)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	name, err := filepath.Abs(*program)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), name, "run", "--workers", "1", "--json")
	cmd.Dir = app
	cmd.Env = append(os.Environ(), "APP_URL=http://"+addr, "APP_PORT="+port, "APP_DIR="+t.TempDir(), "PASSWORD=secret of ann")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	passed := report(t, out)
	if err != nil || passed != trails {
		t.Errorf("%d of %d trails passed, %v\n%s", passed, trails, err, stderr.String())
	}
	if conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr); err == nil {
		t.Errorf("the app still runs at %s, %v", addr, conn.Close())
	}
	return passed
}

// report names the trails of a run that did not pass, and returns how many did.
func report(t *testing.T, events []byte) int {
	t.Helper()
	passed := 0
	for line := range bytes.Lines(events) {
		var e struct {
			Type, File, Outcome, Reason string
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		switch {
		case e.Type != "trail.finished":
		case e.Outcome == "passed":
			passed++
		default:
			t.Errorf("%s %s: %s", e.File, e.Outcome, e.Reason)
		}
	}
	return passed
}

// freeAddress returns an address at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
