package spawn

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitExit returns when the leader has exited. True means that it is still a zombie.
func (g group) awaitExit() bool {
	for {
		err := unix.Waitid(unix.P_PID, g.id, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
