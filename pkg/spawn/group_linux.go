package spawn

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
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

// killHolders kills what left the group of a dead server and kept its pipes. A daemon that means to stay, such as adb's or
// Gradle's, lets go of them; what did not was forgotten, and would keep us from the end of the pipes for ever.
func killHolders(pipes ...*os.File) {
	var inodes []uint64
	for _, pipe := range pipes {
		if info, err := pipe.Stat(); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				inodes = append(inodes, stat.Ino)
			}
		}
	}
	// A child of ours has all our files until it executes.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for _, pid := range proc.Holders(inodes...) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
