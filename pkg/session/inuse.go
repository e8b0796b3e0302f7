package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/trailblaze/trailblaze/pkg/files"
)

// inUseFile is the file in a session's folder that is locked while the session is open. After that its content is
// ended.
const (
	inUseFile = ".in-use"
	ended     = "ended\n"
)

// startingTime is how long a session that has just started may take until its file is locked.
const startingTime = time.Minute

// markInUse locks the file that InUse looks at, which another process may have locked for a moment to look at it.
// Without it the session works as well.
func markInUse(dir string) *files.LockedFile {
	if dir == "" {
		return nil
	}
	file, _ := files.Lock(filepath.Join(dir, inUseFile), true)
	return file
}

func unmarkInUse(file *files.LockedFile) {
	if file != nil {
		_, _ = file.WriteString(ended)
		_ = file.Close()
	}
}

// maxInUse is more bytes than a session writes into its file.
const maxInUse = 1 << 10

// InUse reports whether the session whose folder is dir is open or about to be, in any process. It has started age ago.
func InUse(dir string, age time.Duration) bool {
	path := filepath.Join(dir, inUseFile)
	data, err := files.Read(path, maxInUse) // Windows does not read what is locked
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return age < startingTime
	case string(data) == ended:
		return false
	}
	file, err := files.Lock(path, false)
	if err == nil {
		_ = file.Close()
	}
	return errors.Is(err, files.ErrLocked) || age < startingTime
}

// RemoveEmptyDir removes the folder of a session that was closed, or never opened, if the session left nothing in it.
func RemoveEmptyDir(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 1 || len(entries) == 1 && entries[0].Name() != inUseFile {
		return
	}
	_ = os.Remove(filepath.Join(dir, inUseFile))
	_ = os.Remove(dir)
}
