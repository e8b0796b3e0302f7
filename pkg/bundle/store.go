package bundle

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What was not used for this long goes, and the oldest first once there is more than the cache may hold. It is looked at when
// a text was made. A server with packages takes about 3 MB with all that is made of it, so that ninety fit.
const (
	keepFor  = 30 * 24 * time.Hour
	keepSize = 300 << 20
)

// store is a folder of files that are written whole and never changed. The zero store remembers nothing.
type store struct{ dir string }

const (
	blobExt   = ".blob" // the sum of what follows, and what follows
	moduleExt = ".mjs"
	mapExt    = ".mjs.map"
	newExt    = ".new" // not yet renamed
)

// blob is the name of the file that has what was put under a key.
func blob(key string) string { return sumOf([]byte(key))[:40] + blobExt }

func (s store) get(key string) ([]byte, bool) {
	data, err := s.read(blob(key))
	if err != nil || len(data) < sha256.Size {
		return nil, false
	}
	sum := sha256.Sum256(data[sha256.Size:])
	return data[sha256.Size:], bytes.Equal(sum[:], data[:sha256.Size])
}

func (s store) put(key string, data []byte) {
	sum := sha256.Sum256(data)
	_ = s.write(blob(key), append(sum[:], data...))
}

func (s store) read(name string) ([]byte, error) {
	if !s.use(name) {
		return nil, fs.ErrNotExist
	}
	return readFile(filepath.Join(s.dir, name))
}

// use reports whether there is such a file, and marks it as used; a mark a day is enough.
func (s store) use(name string) bool {
	if s.dir == "" {
		return false
	}
	path := filepath.Join(s.dir, name)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if now := time.Now(); now.Sub(info.ModTime()) > 24*time.Hour {
		_ = os.Chtimes(path, now, now)
	}
	return true
}

// write makes a file under another name and renames it, so that nobody ever sees half of it.
func (s store) write(name string, data []byte) error {
	if s.dir == "" {
		return errors.ErrUnsupported
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(s.dir, "*"+newExt)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(s.dir, name))
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// ours lists the files of the cache, the one that was not used for the longest first. A folder that is not there is empty.
func (s store) ours() ([]fs.FileInfo, error) {
	if s.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		if !isOurs(entry.Name()) {
			continue
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	return files, nil
}

func isOurs(name string) bool {
	return slices.ContainsFunc([]string{blobExt, moduleExt, mapExt, newExt}, func(ext string) bool { return strings.HasSuffix(name, ext) })
}

func (s store) size() (files int, total int64, err error) {
	list, err := s.ours()
	for _, info := range list {
		total += info.Size()
	}
	return len(list), total, err
}

func (s store) clean() error {
	list, err := s.ours()
	for _, info := range list {
		if e := os.Remove(filepath.Join(s.dir, info.Name())); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// prune removes what was not used for long. Others may do the same at the same time.
func (s store) prune(now time.Time) {
	list, err := s.ours()
	if err != nil {
		return
	}
	var total int64
	for _, info := range list {
		total += info.Size()
	}
	for _, info := range list {
		if total <= keepSize && now.Sub(info.ModTime()) <= keepFor {
			return
		}
		total -= info.Size()
		_ = os.Remove(filepath.Join(s.dir, info.Name()))
	}
}
