//go:build unix

package files_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/files"
)

func TestReadDoesNotWait(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero"} {
		if _, err := files.Read(path, 9); !errors.Is(err, files.ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
