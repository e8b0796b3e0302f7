// Package collected has what devices answered: the archives of `trailblaze doctor --collect`, as zips or as folders.
package collected

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
)

//go:embed *
var archives embed.FS

// Answers returns a file of the archives by the names of the devices, without those whose archive does not have it. It is
// an error if none has.
func Answers(name string) (map[string][]byte, error) {
	entries, err := archives.ReadDir(".")
	if err != nil {
		return nil, err
	}
	answers := map[string][]byte{}
	for _, e := range entries {
		archive, err := open(e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		if archive == nil {
			continue
		}
		if data, err := fs.ReadFile(archive, name); err == nil {
			answers[e.Name()] = data
		}
	}
	if len(answers) == 0 {
		return nil, fmt.Errorf("no device has answered %s", name)
	}
	return answers, nil
}

// open returns the archive that an entry is, nil for another file.
func open(e fs.DirEntry) (fs.FS, error) {
	switch {
	case e.IsDir():
		return fs.Sub(archives, e.Name())
	case path.Ext(e.Name()) == ".zip":
		data, err := archives.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		return zip.NewReader(bytes.NewReader(data), int64(len(data)))
	}
	return nil, nil //nolint:nilnil // not an archive
}
