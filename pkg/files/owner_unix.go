//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and the group of another, if this process may do that.
func keepOwner(file *os.File, other fs.FileInfo) {
	if stat, ok := other.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(stat.Uid), int(stat.Gid)) // only root may
	}
}
