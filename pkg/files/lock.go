package files

import (
	"errors"
	"os"
)

// ErrLocked says that another process holds a lock, or another holder in this one.
var ErrLocked = errors.New("locked by another process")

// LockedFile is a file that is locked until it is closed or the process has exited.
type LockedFile struct{ *os.File }

// Lock creates a file and locks it. It waits for another holder, or without wait returns ErrLocked. Programs that this
// process starts do not inherit the lock.
func Lock(path string, wait bool) (*LockedFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(file, wait); err != nil {
		_ = file.Close()
		return nil, err
	}
	return &LockedFile{file}, nil
}

// Close releases the lock and closes the file.
func (f *LockedFile) Close() error { return errors.Join(unlock(f.File), f.File.Close()) }
