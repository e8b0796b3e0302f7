// Package python_test runs the Python package's own tests, and its tools against the real program.
package python_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPackage(t *testing.T) {
	t.Parallel()
	dir := checkout(t)
	c := command(t, dir, "python3", "-W", "error", "-m", "unittest", "discover", "-t", ".", "-s", "tests")
	c.Env = append(c.Env, "TRAILBLAZE_VECTORS="+filepath.Join(dir, "vectors.json"))
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "\nOK\n") {
		t.Errorf("the tests of sdks/python: %v\n%s", err, out)
	}
}

// checkout copies the package, so that Python leaves nothing in the source, and so that go test knows which files the
// tests read.
func checkout(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Fatalf("%v: run make deps", err)
	}
	dir := filepath.Join(t.TempDir(), "python")
	if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	vectors, err := os.ReadFile(filepath.Join("..", "..", "testdata", "protocol", "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "vectors.json"), vectors, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// command is a command in a checkout, whose package it sees, with nothing of a session that the tests may run in.
func command(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.WaitDelay = dir, 10*time.Second
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "TRAILBLAZE_") {
			c.Env = append(c.Env, kv)
		}
	}
	c.Env = append(c.Env, "PYTHONPATH="+filepath.Join(dir, "src"), "PYTHONDONTWRITEBYTECODE=1", "CI=", "NO_COLOR=1")
	return c
}
