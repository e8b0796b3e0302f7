//go:build unix

package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another process holds a lock, or another holder in this one.
var ErrLocked = errors.New("locked by another process")

// Lock creates a file and locks it until it is closed or the process has exited. It waits for another holder, or without
// wait returns ErrLocked. Programs that this process starts do not inherit the lock.
func Lock(path string, wait bool) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err = unix.Flock(int(file.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return file, nil
	}
	_ = file.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, ErrLocked
	}
	return nil, os.NewSyscallError("flock", err)
}
