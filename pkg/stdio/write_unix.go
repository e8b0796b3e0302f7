//go:build unix

package stdio

import (
	"os"
	"syscall"
)

// writeNow writes what fits into the pipe without waiting, and returns how many bytes that was. A full pipe is not an
// error.
func writeNow(pipe *os.File, data []byte) (n int, err error) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		n, failed = syscall.Write(int(fd), data)
		return true
	})
	if err == nil && failed != nil && failed != syscall.EAGAIN && failed != syscall.EINTR {
		err = failed
	}
	return max(n, 0), err
}
