//go:build unix

package report

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/event"
)

func TestPageDoesNotWaitForPipes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := NewHTML(dir).load(dir, event.Evidence{File: "pipe.txt"}); got.Missing != "this is not a file" {
		t.Errorf("missing %q", got.Missing)
	}
}
