//go:build unix

package remote

import "syscall"

// withoutReuse takes from a socket what Go gives to every listening one.
func withoutReuse(_, _ string, socket syscall.RawConn) error {
	var failed error
	err := socket.Control(func(fd uintptr) { failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0) })
	if err != nil {
		return err
	}
	return failed
}
