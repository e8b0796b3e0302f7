package report_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/report"
)

func writeText(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s has %q, %v; want %q", path, got, err, want)
	}
}

func wantNoFiles(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%s has %v, %v; want no files", dir, entries, err)
	}
}

func TestReportAppearsWhenItIsComplete(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "build")
	path := filepath.Join(dir, "junit.xml")
	for _, text := range []string{"the first", "the second"} {
		if err := report.ClearFile(path); err != nil {
			t.Fatal(err)
		}
		wantNoFiles(t, dir)
		err := report.WriteFile(path, func(w io.Writer) error {
			if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the report is there while it is written: %v", err)
			}
			return writeText(text)(w)
		})
		if err != nil {
			t.Fatal(err)
		}
		wantFile(t, path, text)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder has %v", entries)
	}
}

func TestReportThatCannotBeWrittenLeavesNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "index.html")
	full := errors.New("the disk is full")
	err := report.WriteFile(path, func(w io.Writer) error { return errors.Join(writeText("half")(w), full) })
	if !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	wantNoFiles(t, dir)
	if err := report.ClearFile(dir); err == nil {
		t.Error("a folder is accepted as the file of a report")
	}
}

func TestReportIsWrittenThroughLinkAndToDevice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("an earlier report"), 0o644); err != nil {
		t.Fatal(err)
	}
	for to, name := range map[string]string{target: link, os.DevNull: filepath.Join(dir, "null")} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(report.ClearFile(name), report.WriteFile(name, writeText("new"))); err != nil {
			t.Error(err)
		}
		if got, err := os.Readlink(name); err != nil || got != to {
			t.Errorf("the link names %q, %v; want %s", got, err, to)
		}
	}
	wantFile(t, target, "new")
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s: %v, %v", os.DevNull, info.Mode(), err)
	}
}
