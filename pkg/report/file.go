package report

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/trailblaze/trailblaze/pkg/files"
)

// ClearFile creates the folder of the report at path and removes an earlier report, so that a run that is killed does
// not leave one. A link, a device and a file that cannot be removed stay and are emptied; a pipe stays as it is. It
// returns an error when a report could not be written to path.
func ClearFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Type() == fs.ModeNamedPipe {
		return nil
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		_ = os.Remove(path) // WriteFile writes into a file that is left
	}
	return nil
}

// WriteFile calls write to write the report, and stores it at path when it is complete. After an error there is none.
// What [ClearFile] did not remove is written in place; a pipe without a reader is an error.
func WriteFile(path string, write func(io.Writer) error) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o644)
		if err != nil {
			return err
		}
		return errors.Join(write(file), file.Close())
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	return files.Replace(path, func(f *os.File) error { return write(f) })
}
