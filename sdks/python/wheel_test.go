package python_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWheel installs the wheel into an empty folder, without a network, and runs tools with nothing else of the
// package.
func TestWheel(t *testing.T) {
	t.Parallel()
	dir := checkout(t)
	empty := t.TempDir()
	build := command(t, dir, "python3", "backend.py", empty)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the wheel: %v\n%s", err, out)
	}
	wheels, err := filepath.Glob(filepath.Join(empty, "trailblaze-*-py3-none-any.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("wheels: %v, %v", wheels, err)
	}
	packages := filepath.Join(empty, "packages")
	install := command(t, empty, "python3", "-m", "pip", "install", "--no-index", "--quiet", "--target", packages, wheels[0])
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("install the wheel (needs pip: package python3-pip of Debian and Ubuntu): %v\n%s", err, out)
	}
	project := filepath.Join(empty, "project")
	if err := os.CopyFS(project, os.DirFS(filepath.Join(dir, "tests", "project"))); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := command(t, project, self, "run", filepath.Join("trails", "shop.trail.yaml"))
	run.Env = append(run.Env, "PYTHONPATH="+packages, "TRAILBLAZE_TEST_MAIN=1", "TRAILBLAZE_CACHE_DIR="+t.TempDir(),
		"GORACE=atexit_sleep_ms=0")
	if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), "1 passed") {
		t.Errorf("run: %v\n%s", err, out)
	}
}
