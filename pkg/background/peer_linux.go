package background

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// sameUser reports whether the process at the other end of a connection belongs to the user of this one.
func sameUser(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	var peer *unix.Ucred
	controlErr := raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	return controlErr == nil && err == nil && int(peer.Uid) == os.Getuid()
}
