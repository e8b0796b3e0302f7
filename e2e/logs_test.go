//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/files"
)

func TestLogsPruneRemovesOldSessions(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "elsewhere/x_20200101T000000Z_0a0a0a0a/events.ndjson": "kept"})
	session := func(age time.Duration, random string) string {
		name := "a_" + time.Now().Add(-age).UTC().Format("20060102T150405Z") + "_" + random
		p.write("logs/"+name+"/events.ndjson", "{}\n")
		return name
	}
	const day = 24 * time.Hour
	oldest, old, recent := session(30*day, "0000000a"), session(20*day, "0000000b"), session(time.Hour, "0000000c")
	running := session(40*day, "0000000d")
	lock, err := files.Lock(filepath.Join(p.dir, "logs", running, ".in-use"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	killed := session(50*day, "0000000e")
	p.write("logs/"+killed+"/.in-use", "")
	starting := session(0, "0000000f")
	p.write("logs/notes/a.txt", "kept")
	outside := filepath.Join(p.dir, "elsewhere", "x_20200101T000000Z_0a0a0a0a")
	if err := os.Symlink(outside, filepath.Join(p.dir, "logs", "x_20200101T000000Z_0a0a0a0a")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(oldest, filepath.Join(p.dir, "logs", "latest")); err != nil {
		t.Fatal(err)
	}
	left := func(want ...string) {
		t.Helper()
		entries, err := os.ReadDir(filepath.Join(p.dir, "logs"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "a_") || e.Name() == "latest" {
				got = append(got, e.Name())
			}
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("left are %v, want %v", got, want)
		}
	}
	p.run("logs", "prune").wantErr(t, 3, "--keep and --older-than are missing")
	p.run("logs", "prune", "--older-than", "soon").wantErr(t, 3, `"soon" is not an age`)
	p.run("logs", "prune", "--keep", "-1").wantErr(t, 3, "less than 0")
	p.run("logs", "prune", "--keep", "1", "--older-than", "25d", "--json").want(t, 0, `"`+oldest+`"`, `"`+killed+`"`, `"kept":4,"bytes":`)
	left(old, recent, running, starting)
	p.run("logs", "prune", "--older-than", "36h").want(t, 0, "removed 1 session (0.0 MiB), kept 3")
	left(recent, running, starting)
	p.run("logs", "prune", "--keep", "0").want(t, 0, "removed 1 session")
	left(running, starting)
	for _, kept := range []string{"logs/notes/a.txt", "elsewhere/x_20200101T000000Z_0a0a0a0a/events.ndjson"} {
		if _, err := os.Stat(filepath.Join(p.dir, kept)); err != nil {
			t.Error(err)
		}
	}
	p.write("trailblaze.yaml", okProject+"logsDir: ./none\n")
	p.run("logs", "prune", "--keep", "3").want(t, 0, "removed 0 sessions")
}

func TestLogsPruneKeepsRunningSession(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("sleep: { ms: 1500 }")})
	ready := func() {
		await(func() bool {
			found, _ := filepath.Glob(filepath.Join(p.dir, "logs", "a_*"))
			return len(found) == 1
		})
		p.run("logs", "prune", "--keep", "0").want(t, 0, "removed 0 sessions (0.0 MiB), kept 1")
	}
	_, output := signalled(t, p.command("run"), ready, syscall.SIGINT, false)
	if strings.Contains(output, ".in-use") || !strings.Contains(output, "events.ndjson") {
		t.Errorf("want the session's files without the mark:\n%s", output)
	}
	p.run("logs", "prune", "--keep", "0").want(t, 0, "removed 1 session")
}
