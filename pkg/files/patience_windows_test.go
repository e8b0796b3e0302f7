package files_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/files"
)

// A reader has the file open. The control is that the system then refuses to replace it.
func TestFilesThatAreReadAreReplaced(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(from, to string) error{
		"Rename": files.Rename,
		"Replace": func(_, to string) error {
			return files.Replace(to, func(f *os.File) error {
				_, err := f.WriteString("new")
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
			for path, text := range map[string]string{from: "new", to: "old"} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			reader, err := os.Open(to)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(from, to); err == nil {
				t.Fatal("the system replaces a file that is read, so the test shows nothing")
			}
			time.AfterFunc(200*time.Millisecond, func() { _ = reader.Close() })
			if err := replace(from, to); err != nil {
				t.Error(err)
			}
			if got, err := os.ReadFile(to); err != nil || string(got) != "new" {
				t.Errorf("the file has %q, %v", got, err)
			}
		})
	}
}
