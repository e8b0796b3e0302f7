package files_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/files"
)

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{path, link} {
		if data, err := files.Read(name, 4); err != nil || string(data) != "text" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	_, err := files.Read(path, 3)
	if tooLarge, ok := errors.AsType[files.TooLargeError](err); !ok || tooLarge.Limit != 3 {
		t.Errorf("too large: %v", err)
	}
	if _, err := files.Read(dir, 9); !errors.Is(err, files.ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := files.Read(filepath.Join(dir, "none"), 9); !errors.Is(err, fs.ErrNotExist) ||
		!strings.HasPrefix(err.Error(), "read ") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestTooLargeErrorNamesLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]string{
		4 << 20: "larger than 4 MiB", 1 << 10: "larger than 1 KiB", 0: "larger than 0 bytes", 1000: "larger than 1000 bytes",
	} {
		if got := (files.TooLargeError{Limit: limit}).Error(); got != want {
			t.Errorf("%d: %q, want %q", limit, got, want)
		}
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, ".settings")
	full := errors.New("the disk is full")
	for _, c := range []struct {
		text string
		err  error
		want string
	}{{"first", nil, "first"}, {"second", nil, "second"}, {"half", full, "second"}} {
		err := files.Replace(path, func(f *os.File) error {
			_, err := f.WriteString(c.text)
			return errors.Join(err, c.err)
		})
		if !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v", c.text, err, c.err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
			t.Errorf("the file has %q, %v; want %q", got, err, c.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

// TestAbandonLeavesNoHalfFile is a process of its own: after Abandon, nothing is written any more.
func TestAbandonLeavesNoHalfFile(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("FILES_TEST_ABANDON"); dir != "" {
		_ = files.Replace(filepath.Join(dir, "report"), func(*os.File) error {
			files.Abandon()
			os.Exit(0)
			return nil
		})
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAbandonLeavesNoHalfFile$")
	cmd.Env = append(os.Environ(), "FILES_TEST_ABANDON="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}
