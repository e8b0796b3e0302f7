//go:build unix

package spawn

import (
	"os"
	"syscall"
)

// writeNow writes what the pipe takes at once and reports how much that was; it never waits. Its error is never that the pipe
// is full.
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
