package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const host = ".."

func TestDistIsUpToDate(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(host, "node_modules", ".stamp")); err != nil {
		t.Fatalf("the npm packages are missing: run make deps (%v)", err)
	}
	want, err := build(host)
	if err != nil {
		t.Fatal(err)
	}
	got := files{}
	dist := os.DirFS(filepath.Join(host, "dist"))
	if err := read(dist, got); err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		if string(got[name]) != string(text) {
			t.Errorf("dist/%s is out of date: run make generate", name)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("dist/%s has no source: run make generate", name)
	}
}

func TestPackageRoot(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"src/fs.js":                            "",
		"node_modules/buffer/index.js":         "node_modules/buffer",
		"node_modules/@ungap/x/esm/index.js":   "node_modules/@ungap/x",
		"node_modules/a/node_modules/b/lib.js": "node_modules/a/node_modules/b",
	} {
		if diff := cmp.Diff(want, packageRoot(input)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", input, diff)
		}
	}
}

func TestRejectsOtherLicenses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"name":"x","version":"1.0.0","license":"GPL-3.0"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := licenseText(dir); err == nil || !strings.Contains(err.Error(), `x has the license "GPL-3.0"`) {
		t.Errorf("licence() = %v", err)
	}
}

func read(dist fs.FS, into files) error {
	return fs.WalkDir(dist, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		into[name], err = fs.ReadFile(dist, name)
		return err
	})
}
