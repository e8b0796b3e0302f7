// Package files reads, replaces and locks files that a user names, and writes their URLs. Reading never waits for a pipe
// or a terminal and never returns more than the caller allows.
package files

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// ErrNotRegular is the error for a folder, pipe, device or socket.
var ErrNotRegular = errors.New("not a regular file")

// TooLargeError is the error for a file that is larger than the limit.
type TooLargeError struct {
	Limit int64 // bytes
}

func (e TooLargeError) Error() string {
	switch {
	case e.Limit >= 1<<20 && e.Limit%(1<<20) == 0:
		return fmt.Sprintf("larger than %d MiB", e.Limit>>20)
	case e.Limit >= 1<<10 && e.Limit%(1<<10) == 0:
		return fmt.Sprintf("larger than %d KiB", e.Limit>>10)
	}
	return fmt.Sprintf("larger than %d bytes", e.Limit)
}

// Read returns the content of a regular file of at most limit bytes. It follows links. The error is an *fs.PathError;
// its cause may be ErrNotRegular or a TooLargeError.
func Read(path string, limit int64) ([]byte, error) {
	if err := checkRegular(os.Stat(path)); err != nil {
		return nil, pathError(path, err)
	}
	// Opening a pipe that replaced the file since then must not wait for a writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err //nolint:wrapcheck // it is a *fs.PathError
	}
	defer func() { _ = file.Close() }()
	if err := checkRegular(file.Stat()); err != nil {
		return nil, pathError(path, err)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	switch {
	case err != nil:
		return nil, pathError(path, err)
	case int64(len(data)) > limit:
		return nil, pathError(path, TooLargeError{limit})
	}
	return data, nil
}

// Open opens a regular file or a pipe for reading. It does not wait for the writer of a pipe, which is empty without
// one. The error is an *fs.PathError; its cause may be ErrNotRegular.
func Open(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err //nolint:wrapcheck // it is a *fs.PathError
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeNamedPipe {
		err = ErrNotRegular
	}
	if err != nil {
		_ = file.Close()
		return nil, pathError(path, err)
	}
	return file, nil
}

// Replace creates a file beside path, calls write with it, and gives it the name path, so that readers find either the
// earlier content or all of the new one. The file has mode 0644 before the umask, unless write changes it, and keeps the
// owner of an earlier one where this process may set it. After an error path is unchanged.
func Replace(path string, write func(*os.File) error) error {
	return replace(path, write, os.OpenFile, os.Lstat, os.Rename, os.Remove)
}

// ReplaceIn is [Replace] for a path relative to root, which links cannot lead out of.
func ReplaceIn(root *os.Root, path string, write func(*os.File) error) error {
	return replace(path, write, root.OpenFile, root.Lstat, root.Rename, root.Remove)
}

func replace(
	path string, write func(*os.File) error, open func(path string, flag int, mode fs.FileMode) (*os.File, error),
	stat func(path string) (fs.FileInfo, error), rename func(from, to string) error, remove func(path string) error,
) error {
	temp := filepath.Join(filepath.Dir(path), "."+strings.TrimPrefix(filepath.Base(path), ".")+"."+rand.Text())
	var file *os.File
	err := unfinished.update(func(m map[string]func()) (err error) {
		if file, err = open(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
			m[temp] = func() { _, _ = file.Close(), remove(temp) } // Windows removes no open file
		}
		return err
	})
	if err != nil {
		return err
	}
	if before, statErr := stat(path); statErr == nil {
		keepOwner(file, before)
	}
	err = errors.Join(write(file), file.Close())
	return unfinished.update(func(m map[string]func()) error {
		delete(m, temp)
		if err == nil {
			err = renamePatiently(rename, temp, path)
		}
		if err != nil {
			_ = remove(temp)
		}
		return err
	})
}

// unfinished has what removes the files that are being written.
//
//nolint:gochecknoglobals // the end of the process concerns all of them
var unfinished = temporaries{remove: map[string]func(){}}

type temporaries struct {
	mu     sync.Mutex
	remove map[string]func() // by path
}

func (t *temporaries) update(change func(map[string]func()) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return change(t.remove)
}

// Abandon removes the files that Replace has not finished. It is for a process that exits now: no Replace that is in
// progress or begins later returns.
func Abandon() {
	unfinished.mu.Lock()
	for _, remove := range unfinished.remove {
		remove()
	}
}

func checkRegular(info fs.FileInfo, err error) error {
	if err == nil && !info.Mode().IsRegular() {
		return ErrNotRegular
	}
	return err
}

func pathError(path string, err error) error {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	return &fs.PathError{Op: "read", Path: path, Err: err}
}
