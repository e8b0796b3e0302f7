//go:build unix

package bundle

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestAPipeIsNoInput(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"main.ts": "import './pipe'"})
	for _, name := range []string{"pipe.ts", "package.json", "tsconfig.json"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := state(contentFact, filepath.Join(dir, name)); got != none {
			t.Errorf("the content of a pipe is %q", got)
		}
	}
}

func TestAnImportedPipeIsRefused(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"main.ts": "import './pipe'"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.ts"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Open("").Bundle(t.Context(), filepath.Join(dir, "main.ts"), Embedded)
	if e := fault.As(err); e == nil || e.Message != "main.ts:1:8: cannot read pipe.ts: not a file" {
		t.Errorf("the error is %v", err)
	}
}
