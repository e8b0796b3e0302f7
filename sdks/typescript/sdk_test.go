// Package typescript_test runs the TypeScript package's own tests on every supported runtime, and its tools with the
// program.
package typescript_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// limit is how long one runtime may take for all tests, on a machine that is busy with others.
const limit = 4 * time.Minute

// sources reads what the tests depend on, so that go test runs them again when it has changed.
func sources(t *testing.T) {
	t.Helper()
	for _, root := range []string{".", "../../testdata/protocol", "../../testdata/servers", "../../pkg/typings/testdata"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "node_modules":
				return filepath.SkipDir
			case d.IsDir():
				return nil
			}
			_, err = os.ReadFile(name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// installed returns a file of npm packages that tests use.
func installed(t *testing.T, elem ...string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("%v; run make deps", err)
	}
	return file
}

// passes runs a command, and fails with what it printed when it fails.
func passes(t *testing.T, name string, args ...string) {
	t.Helper()
	sources(t)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "GOGC=400") // the TypeScript compiler is a Go program, and needs a third less time this way
	cmd.WaitDelay = time.Second                // a server that a test left behind may hold the output
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", cmd, err, out)
	}
}

func tests(t *testing.T, patterns ...string) []string {
	t.Helper()
	var out []string
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join("test", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests are called %s: %v", pattern, err)
		}
		out = append(out, files...)
	}
	return out
}

func TestTypes(t *testing.T) {
	t.Parallel()
	passes(t, installed(t, "node_modules", ".bin", "tsc"), "-p", ".")
}

// TestTypedCalls compiles right and wrong calls with the types that are written for the tools of pkg/typings/testdata.
func TestTypedCalls(t *testing.T) {
	t.Parallel()
	passes(t, installed(t, "node_modules", ".bin", "tsc"), "-p", filepath.Join("test", "typed"))
}

func TestPackageOnBun(t *testing.T) {
	t.Parallel()
	installed(t, "node_modules", "zod")
	bun := installed(t, "..", "..", "testdata", "servers", "node_modules", ".bin", "bun")
	args := []string{"test", "--timeout", "300000"}
	for _, file := range tests(t, "[!p]*.test.ts") { // test/package.test.ts tries all runtimes, and is run once
		args = append(args, "./"+filepath.ToSlash(file))
	}
	passes(t, bun, args...)
}

func TestPackageOnNode(t *testing.T) {
	t.Parallel()
	installed(t, "node_modules", "zod")
	tsx := installed(t, "..", "..", "testdata", "servers", "node_modules", "tsx", "dist", "loader.mjs")
	args := []string{"--import", "file://" + filepath.ToSlash(tsx), "--test", "--test-reporter", "tap"}
	patterns := []string{"*.test.ts"}
	if testing.Short() { // the others run on bun
		patterns = []string{"package.test.ts", "units.test.ts"}
	}
	passes(t, "node", append(args, tests(t, patterns...)...)...)
}
