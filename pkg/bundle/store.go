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

// Limits of the cache, applied after a build. A server with packages needs about 3 MB with its bytecode, so that ninety
// fit.
const (
	maxAge       = 30 * 24 * time.Hour
	maxTotalSize = 300 << 20
)

// store is a directory of files that are written atomically and never modified. The zero store stores nothing.
type store struct{ dir string }

const (
	blobExt   = ".blob" // SHA-256 of the data, and the data
	moduleExt = ".mjs"
	mapExt    = ".mjs.map"
	tempExt   = ".new" // a file that is being written
)

// blob returns the name of the file for data stored under a key.
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
	if !s.touch(name) {
		return nil, fs.ErrNotExist
	}
	return readFile(filepath.Join(s.dir, name))
}

// touch reports whether a file exists, and updates its modification time at most once a day.
func (s store) touch(name string) bool {
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

// write writes a temporary file and renames it, so that readers never see a partial file.
func (s store) write(name string, data []byte) error {
	if s.dir == "" {
		return errors.ErrUnsupported
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(s.dir, "*"+tempExt)
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

// files returns the files of the cache, least recently used first.
func (s store) files() ([]fs.FileInfo, error) {
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
		if !isCacheFile(entry.Name()) {
			continue
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	return files, nil
}

func isCacheFile(name string) bool {
	return slices.ContainsFunc([]string{blobExt, moduleExt, mapExt, tempExt},
		func(ext string) bool { return strings.HasSuffix(name, ext) })
}

func (s store) size() (files int, total int64, err error) {
	list, err := s.files()
	for _, info := range list {
		total += info.Size()
	}
	return len(list), total, err
}

func (s store) clean() error {
	list, err := s.files()
	for _, info := range list {
		if e := os.Remove(filepath.Join(s.dir, info.Name())); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// prune removes files that were not used for maxAge, and the least recently used ones above maxTotalSize. Other
// processes may do the same at the same time.
func (s store) prune(now time.Time) {
	list, err := s.files()
	if err != nil {
		return
	}
	var total int64
	for _, info := range list {
		total += info.Size()
	}
	for _, info := range list {
		if total <= maxTotalSize && now.Sub(info.ModTime()) <= maxAge {
			return
		}
		total -= info.Size()
		_ = os.Remove(filepath.Join(s.dir, info.Name()))
	}
}
