//go:build unix

package remote

import "syscall"

// withoutReuseAddr clears SO_REUSEADDR, which Go sets on listening sockets.
func withoutReuseAddr(_, _ string, socket syscall.RawConn) error {
	var failed error
	err := socket.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET,
			syscall.SO_REUSEADDR, 0)
	})
	if err != nil {
		return err
	}
	return failed
}
