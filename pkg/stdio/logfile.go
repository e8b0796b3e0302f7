package stdio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLog is the size that a log file may have, in bytes.
const maxLog = 16 << 20

// leftOut is the line in a log file that replaces what was removed from its middle.
const (
	leftOut      = leftOutStart + "%d bytes are left out here]\n"
	leftOutStart = "[trailblaze: "
)

// logFile is a file that is appended to and keeps its beginning and its end: when it is full, half of it stays as it
// is, of the other half the last quarter of the file. It has no other state than the file, so another process may
// continue to write it.
type logFile struct {
	file *os.File
	max  int64
	size int64
}

// openLogFile opens a file, which it creates with its folder, unless it is a pipe or a device.
func openLogFile(path string, limit int64) (*logFile, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")} // opening a pipe may wait for ever
	}
	const flags = os.O_CREATE | os.O_APPEND | os.O_RDWR
	file, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		file, err = os.OpenFile(path, flags, 0o600)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return &logFile{file: file, max: limit, size: info.Size()}, nil
}

func (f *logFile) write(p []byte) error {
	for len(p) > 0 {
		if f.size >= f.max {
			if err := f.shorten(); err != nil {
				return err
			}
		}
		n, err := f.file.Write(p[:min(int64(len(p)), f.max-f.size)])
		f.size += int64(n)
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// shorten removes the middle of the file: what is between its first half and its last quarter, each up to the end of a
// line.
func (f *logFile) shorten() error {
	head, before, err := f.head()
	if err != nil {
		return err
	}
	tail, err := f.nextLine(f.size - f.max/4)
	if err != nil {
		return err
	}
	kept, err := f.read(tail, f.size-tail)
	if err != nil {
		return err
	}
	removed := tail - head
	if before > 0 {
		removed += before - int64(len(fmt.Sprintf(leftOut, before)))
	}
	if err := f.file.Truncate(head); err != nil {
		return err
	}
	n, err := f.file.Write(append(fmt.Appendf(nil, leftOut, removed), kept...))
	f.size = head + int64(n)
	return err
}

// head returns the size of the part that stays, and how many bytes have been left out behind it before.
func (f *logFile) head() (size, before int64, err error) {
	half := f.max / 2
	text, err := f.read(half, f.window()+int64(len(leftOut)))
	if err != nil {
		return 0, 0, err
	}
	if at := bytes.Index(text, []byte(leftOutStart)); at >= 0 {
		if n, _ := fmt.Fscanf(bytes.NewReader(text[at:]), leftOut, &before); n == 1 {
			return half + int64(at), before, nil
		}
	}
	size, err = f.nextLine(half)
	return size, 0, err
}

// nextLine returns where a line begins, at an offset or a little after it; the offset itself when its line is long.
func (f *logFile) nextLine(offset int64) (int64, error) {
	text, err := f.read(offset-1, f.window())
	if newline := bytes.IndexByte(text, '\n'); newline >= 0 {
		return offset + int64(newline), err
	}
	return offset, err
}

// window is how far the end of a line is searched.
func (f *logFile) window() int64 { return min(64<<10, f.max/8) }

// read returns the bytes at an offset, fewer than n at the end of the file.
func (f *logFile) read(offset, n int64) ([]byte, error) {
	data := make([]byte, n)
	got, err := f.file.ReadAt(data, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return data[:got], err
}

func (f *logFile) close() error { return f.file.Close() }
