package files

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
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
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err = windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if err == nil {
		return file, nil
	}
	_ = file.Close()
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return nil, ErrLocked
	}
	return nil, os.NewSyscallError("LockFileEx", err)
}
