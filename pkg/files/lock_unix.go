//go:build unix

package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func lock(file *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	err := flock(file, how)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return os.NewSyscallError("flock", err)
}

// unlock releases the lock. Closing the file is not enough: a program that this process is starting has a copy of it
// until its start is complete.
func unlock(file *os.File) error { return os.NewSyscallError("flock", flock(file, unix.LOCK_UN)) }

func flock(file *os.File, how int) error {
	for {
		err := unix.Flock(int(file.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
