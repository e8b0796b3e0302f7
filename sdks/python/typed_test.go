package python_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/typings"
)

// TestTypedCalls checks right and wrong calls with the stub that is written for the tools of pkg/typings/testdata.
func TestTypedCalls(t *testing.T) {
	t.Parallel()
	pyright, err := filepath.Abs(filepath.Join("..", "..", "testdata", "pyright", "node_modules", "pyright", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(pyright); err != nil {
		t.Fatalf("%v; run make deps", err)
	}
	stub, err := os.ReadFile(filepath.Join("..", "..", "pkg", "typings", "testdata", typings.PythonFile))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(checkout(t), "tests", "typed")
	if err := os.WriteFile(filepath.Join(dir, typings.PythonFile), stub, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := command(t, dir, "node", pyright, "-p", dir).CombinedOutput(); err != nil {
		t.Errorf("pyright: %v\n%s", err, out)
	}
}
