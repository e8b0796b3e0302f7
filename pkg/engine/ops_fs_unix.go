//go:build linux || darwin

package engine

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func errnoName(errno syscall.Errno) string { return unix.ErrnoName(errno) }

// access checks the permissions of the current user; mode is the sum of R_OK 4, W_OK 2 and X_OK 1.
func access(name string, mode uint32) error {
	if err := unix.Access(name, mode); err != nil {
		return &fs.PathError{Op: "access", Path: name, Err: err}
	}
	return nil
}

// statSystem returns the fields of a stat structure.
func statSystem(info os.FileInfo) (facts systemStat) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return facts
	}
	read, changed := statTimes(st)
	return systemStat{
		dev: float64(st.Dev), links: float64(st.Nlink), uid: float64(st.Uid), gid: float64(st.Gid), rdev: float64(st.Rdev),
		blockSize: float64(st.Blksize), inode: float64(st.Ino), blocks: float64(st.Blocks), mode: float64(st.Mode),
		accessed: milliseconds(read), changed: milliseconds(changed),
	}
}

func milliseconds(t syscall.Timespec) float64 { return float64(t.Sec)*1e3 + float64(t.Nsec)/1e6 }
