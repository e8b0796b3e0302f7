package embedded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOutdated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before := Files{"a.js": []byte("a"), "in/b.js": []byte("b"), "c.js": []byte("c")}
	if err := before.Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		files Files
		want  []string
	}{
		{before, nil},
		{Files{"a.js": []byte("a"), "in/b.js": []byte("changed"), "d.js": []byte("d")}, []string{"c.js", "d.js", "in/b.js"}},
	} {
		got, err := c.files.Outdated(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("outdated (-want +got):\n%s", diff)
		}
	}
}

func TestWriteRemovesOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, files := range []Files{{"old.js": nil}, {"new.js": nil}} {
		if err := files.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "old.js")); err == nil {
		t.Error("old.js is still there")
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
		t.Errorf("licenseText() = %v", err)
	}
}
