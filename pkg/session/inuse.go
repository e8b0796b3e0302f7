package session

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// inUseFile is the file in a session's folder that has the id of the process while the session is open.
const inUseFile = ".in-use"

// markInUse writes the file that InUse reads. Without it the session works as well.
func markInUse(dir string) {
	if dir != "" {
		_ = os.WriteFile(filepath.Join(dir, inUseFile), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644)
	}
}

func unmarkInUse(dir string) {
	if dir != "" {
		_ = os.Remove(filepath.Join(dir, inUseFile))
	}
}

// InUse reports whether the session whose folder is dir is open, in any process.
func InUse(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, inUseFile))
	if err != nil {
		return false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid <= 0 {
		return false
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = process.Release() }()
	if runtime.GOOS == "windows" {
		return true // FindProcess found it
	}
	err = process.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
