// Package collected has what devices answered: the archives of `trailblaze doctor --collect`, as zips or as folders.
package collected

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each calls f, in a test of its own, for each device whose archive has a file, with the content of the file.
func Each(t *testing.T, name string, f func(t *testing.T, data []byte)) {
	t.Helper()
	folder := os.DirFS(root(t))
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range entries {
		var archive fs.FS
		switch {
		case e.IsDir():
			archive, err = fs.Sub(folder, e.Name())
		case strings.HasSuffix(e.Name(), ".zip"):
			r, zipErr := zip.OpenReader(filepath.Join(root(t), e.Name()))
			if zipErr != nil {
				t.Fatal(e.Name(), zipErr)
			}
			t.Cleanup(func() { _ = r.Close() })
			archive = r
		default:
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := fs.ReadFile(archive, name)
		if err != nil {
			continue // another platform, or a question without an answer
		}
		found++
		t.Run(e.Name(), func(t *testing.T) { f(t, data) })
	}
	if found == 0 {
		t.Errorf("no device has %s", name)
	}
}

// root returns the folder of the archives, which is below a folder above that of the test.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "testdata", "phones", "collected")
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("testdata/phones/collected was not found")
		}
	}
}
