package adbd

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Files are the files of a simulated phone, in memory. Its methods may be called from any goroutine.
type Files struct {
	mu       sync.Mutex
	files    map[string]File
	refusing string // the folder that refuses new files
}

// File is a file or a folder.
type File struct {
	Path    string // absolute
	Data    []byte
	Mode    uint32 // type and permissions as in Linux's stat
	ModTime time.Time
}

// Bits of File.Mode.
const (
	ModeFolder  = 0o040000
	ModeRegular = 0o100000
)

// NewFiles returns files with the folders that programs on a computer write to.
func NewFiles() *Files {
	f := &Files{files: map[string]File{}}
	for _, folder := range []string{"/", "/data", "/data/local", "/data/local/tmp", "/sdcard"} {
		f.files[folder] = File{Path: folder, Mode: ModeFolder | 0o771, ModTime: time.Unix(1700000000, 0)}
	}
	return f
}

// Refuse makes a folder refuse new files and folders, with fs.ErrPermission.
func (f *Files) Refuse(folder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refusing = path.Clean("/" + folder)
}

// Write writes a file, and makes the folders above it. The error is fs.ErrPermission.
func (f *Files) Write(name string, data []byte, permissions uint32, modTime time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = path.Clean("/" + name)
	if path.Dir(name) == f.refusing {
		return fs.ErrPermission
	}
	f.files[name] = File{name, bytes.Clone(data), ModeRegular | permissions&0o777, modTime}
	for folder := path.Dir(name); f.files[folder].Mode == 0; folder = path.Dir(folder) {
		f.files[folder] = File{Path: folder, Mode: ModeFolder | 0o771, ModTime: modTime}
	}
	return nil
}

// Mkdir makes a folder. The error is fs.ErrExist, fs.ErrNotExist for a folder above it, or fs.ErrPermission.
func (f *Files) Mkdir(name string, modTime time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = path.Clean("/" + name)
	switch {
	case f.files[name].Mode != 0:
		return fs.ErrExist
	case f.files[path.Dir(name)].Mode&ModeFolder == 0:
		return fs.ErrNotExist
	case path.Dir(name) == f.refusing:
		return fs.ErrPermission
	}
	f.files[name] = File{Path: name, Mode: ModeFolder | 0o771, ModTime: modTime}
	return nil
}

// Stat returns a file or a folder. The error is fs.ErrNotExist.
func (f *Files) Stat(name string) (File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, ok := f.files[path.Clean("/"+name)]
	if !ok {
		return File{}, fs.ErrNotExist
	}
	return file, nil
}

// List returns what is in a folder, sorted.
func (f *Files) List(folder string) []File {
	f.mu.Lock()
	defer f.mu.Unlock()
	folder = path.Clean("/" + folder)
	var list []File
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		if path.Dir(name) == folder && name != folder {
			list = append(list, f.files[name])
		}
	}
	return list
}

// Remove removes a file, or a folder with all that is in it. It reports whether there was one.
func (f *Files) Remove(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = path.Clean("/" + name)
	_, found := f.files[name]
	maps.DeleteFunc(f.files, func(other string, _ File) bool {
		return other == name || strings.HasPrefix(other, name+"/")
	})
	return found
}
