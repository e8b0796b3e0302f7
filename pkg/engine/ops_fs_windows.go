package engine

import (
	"io/fs"
	"os"
	"syscall"
)

func errnoName(errno syscall.Errno) string {
	switch errno {
	case syscall.ERROR_FILE_NOT_FOUND, syscall.ERROR_PATH_NOT_FOUND:
		return "ENOENT"
	case syscall.ERROR_ACCESS_DENIED:
		return "EPERM"
	case syscall.ERROR_FILE_EXISTS, syscall.ERROR_ALREADY_EXISTS:
		return "EEXIST"
	case syscall.ERROR_DIR_NOT_EMPTY:
		return "ENOTEMPTY"
	case syscall.ERROR_PRIVILEGE_NOT_HELD:
		return "EPERM"
	case syscall.EISDIR:
		return "EISDIR"
	case 10013: // this and the following are errors of Winsock
		return "EACCES"
	case 10048:
		return "EADDRINUSE"
	case 10049:
		return "EADDRNOTAVAIL"
	case 10051:
		return "ENETUNREACH"
	case 10054:
		return "ECONNRESET"
	case 10060:
		return "ETIMEDOUT"
	case 10061:
		return "ECONNREFUSED"
	case 10065:
		return "EHOSTUNREACH"
	default:
		return ""
	}
}

// access checks whether a file exists and is writable; mode is the sum of R_OK 4, W_OK 2 and X_OK 1.
func access(name string, mode uint32) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if mode&2 != 0 && !info.IsDir() && info.Mode()&0o200 == 0 {
		return &fs.PathError{Op: "access", Path: name, Err: fs.ErrPermission}
	}
	return nil
}

// statSystem returns the times of a file. The other fields are zero.
func statSystem(info os.FileInfo) (facts systemStat) {
	facts.links = 1
	if st, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		facts.accessed = float64(st.LastAccessTime.Nanoseconds()) / 1e6
		facts.changed = float64(st.LastWriteTime.Nanoseconds()) / 1e6
	}
	return facts
}
