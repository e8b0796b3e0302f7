//go:build unix

package files

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// DistrustReason returns why a folder may contain what other users of the machine wrote: it belongs to another user, or
// every user may write into it. It returns "" for other folders, and for one that does not exist.
func DistrustReason(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	return distrustReason(info, os.Geteuid())
}

func distrustReason(info fs.FileInfo, user int) string {
	const others = 0o002
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case ok && int(stat.Uid) != user:
		return fmt.Sprintf("it belongs to the user with the id %d", stat.Uid)
	case info.Mode().Perm()&others != 0:
		return "every user may write into it"
	}
	return ""
}
