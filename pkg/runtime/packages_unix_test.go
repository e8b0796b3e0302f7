//go:build unix

package runtime

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// TestPipesAreNotRead has a pipe without a writer, which would block a reader.
func TestPipesAreNotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"tsx", "package.json", "script.ts"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got := globalLoader(dir); got != "" {
		t.Errorf("loader %q", got)
	}
	if _, ok := readPackage(dir); ok {
		t.Error("there is a package")
	}
	if err := CheckScript(filepath.Join(dir, "script.ts")); fault.KindOf(err) != fault.Server {
		t.Errorf("error %v", err)
	}
}
