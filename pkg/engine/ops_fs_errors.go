package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// fsError returns an error with node's properties and message: `ENOENT: no such file or directory, open 'x'`. Paths are
// as the script wrote them.
func fsError(err error, call string, paths ...string) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*hostError](err); ok {
		return known
	}
	code, number, text := describeErrno(err)
	h := &hostError{Code: code, Props: map[string]any{"errno": float64(number), "syscall": call}}
	h.Message = fmt.Sprintf("%s: %s, %s", code, text, call)
	if len(paths) > 0 {
		h.Message += fmt.Sprintf(" '%s'", paths[0])
		h.Props["path"] = paths[0]
	}
	if len(paths) > 1 {
		h.Message += fmt.Sprintf(" -> '%s'", paths[1])
		h.Props["dest"] = paths[1]
	}
	return h
}

// describeErrno returns libuv's code, negative number and message for an error.
func describeErrno(err error) (code string, number int, text string) {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		code = errnoName(errno)
	case errors.Is(err, fs.ErrClosed):
		code = "EBADF"
	case errors.Is(err, fs.ErrInvalid):
		code = "EINVAL"
	}
	switch { // errors that have several numbers on some systems
	case code != "":
	case errors.Is(err, fs.ErrNotExist):
		code = "ENOENT"
	case errors.Is(err, fs.ErrExist):
		code = "EEXIST"
	case errors.Is(err, fs.ErrPermission):
		code = "EACCES"
	default:
		code = "EIO"
	}
	text, number = libuvError(code)
	if text == "" {
		text = err.Error()
		if errno != 0 {
			text, number = errno.Error(), int(errno)
		}
	}
	return code, -number, text
}

// libuvError returns libuv's message for a code, and the number on Linux; empty when the code is unknown.
func libuvError(code string) (text string, number int) {
	switch code {
	case "EPERM":
		return "operation not permitted", 1
	case "ENOENT":
		return "no such file or directory", 2
	case "EIO":
		return "i/o error", 5
	case "EBADF":
		return "bad file descriptor", 9
	case "EACCES":
		return "permission denied", 13
	case "EBUSY":
		return "resource busy or locked", 16
	case "EEXIST":
		return "file already exists", 17
	case "EXDEV":
		return "cross-device link not permitted", 18
	case "ENOTDIR":
		return "not a directory", 20
	case "EISDIR":
		return "illegal operation on a directory", 21
	case "EINVAL":
		return "invalid argument", 22
	case "EMFILE":
		return "too many open files", 24
	case "ETXTBSY":
		return "text file is busy", 26
	case "EFBIG":
		return "file too large", 27
	case "ENOSPC":
		return "no space left on device", 28
	case "EROFS":
		return "read-only file system", 30
	case "ENAMETOOLONG":
		return "name too long", 36
	case "ENOTEMPTY":
		return "directory not empty", 39
	case "ELOOP":
		return "too many symbolic links encountered", 40
	case "ENOTSUP":
		return "operation not supported on socket", 95
	}
	return "", 0
}
