//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/config"
)

func TestUnreadableFilesAreProblems(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "trailblaze-config", "targets"), []byte("not a folder"))
	write(t, filepath.Join(root, "trailblaze-config", "toolsets", "core.yaml"), []byte("id: core"))
	if err := os.Symlink("nowhere", filepath.Join(root, "trailblaze-config", "toolsets", "lost.yaml")); err != nil {
		t.Fatal(err)
	}
	for _, pipe := range []string{"trailblaze.yaml", "trailblaze-config/toolsets/pipe.yaml"} {
		if err := syscall.Mkfifo(filepath.Join(root, filepath.FromSlash(pipe)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	large := filepath.Join(root, "trailblaze-config", "toolsets", "large.yaml")
	write(t, large, nil)
	if err := os.Truncate(large, 5<<20); err != nil {
		t.Fatal(err)
	}
	_, problems := config.Load(root, nil)
	var got []string
	for _, p := range problems {
		got = append(got, filepath.Base(p.File))
		if !strings.HasPrefix(p.Message, "cannot be read: ") || strings.Contains(p.Message, root) {
			t.Errorf("message %q", p.Message)
		}
	}
	if diff := cmp.Diff([]string{"targets", "large.yaml", "lost.yaml", "pipe.yaml", "trailblaze.yaml"}, got); diff != "" {
		t.Errorf("files with problems (-want +got):\n%s", diff)
	}
}
