package report

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/files"
)

// maxTraceIndex bounds the index of a trace that is read, in bytes.
const maxTraceIndex = 64 << 20

// OpenFile opens a regular file of a session's folder for reading; name is its path below the folder, with slashes. It
// opens nothing outside of the folder, also if a link leads there. The error wraps files.ErrNotRegular for a folder, a
// pipe or a device.
func OpenFile(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name = filepath.FromSlash(name)
	switch info, err := root.Stat(name); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // opening a pipe may wait without end
		return nil, files.ErrNotRegular
	}
	return root.Open(name)
}

// ReadTrace reads what the session kept of the calls of its device. It is empty if nothing was kept, and has what could
// be read in case of an error.
func (c *Case) ReadTrace() (event.Trace, error) {
	var t event.Trace
	if !c.HasTrace || c.Dir == "" {
		return t, nil
	}
	file, err := OpenFile(c.Dir, traceIndex)
	if err != nil {
		return t, err
	}
	defer file.Close()
	return t, json.NewDecoder(io.LimitReader(file, maxTraceIndex)).Decode(&t)
}
