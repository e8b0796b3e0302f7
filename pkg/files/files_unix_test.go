//go:build unix

package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/files"
)

func TestClosedLockIsReleasedForCopiesOfTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	held, err := files.Lock(path, false)
	if err != nil {
		t.Fatal(err)
	}
	child, err := syscall.Dup(int(held.Fd())) // as a program has that is being started
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(child) }()
	if _, err := files.Lock(path, false); !errors.Is(err, files.ErrLocked) {
		t.Errorf("a lock that is held: %v", err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := files.Lock(path, false)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

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

func TestReplaceKeepsTheOwner(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Log("only root can give files to others; nothing is checked")
		return
	}
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 1234, 5678); err != nil {
		t.Fatal(err)
	}
	if err := files.Replace(path, func(*os.File) error { return nil }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != 1234 || stat.Gid != 5678 {
		t.Errorf("owner %+v", info.Sys())
	}
}
