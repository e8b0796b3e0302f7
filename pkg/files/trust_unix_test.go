//go:build unix

package files

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestFoldersOfOthersAreDistrusted(t *testing.T) {
	t.Parallel()
	dir, user := t.TempDir(), os.Geteuid()
	check := func(want string, user int) {
		t.Helper()
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := distrustReason(info, user); got != want {
			t.Errorf("%s: %q, want %q", info.Mode(), got, want)
		}
	}
	check("", user)
	check(fmt.Sprintf("it belongs to the user with the id %d", user), user+1)
	for mode, want := range map[os.FileMode]string{
		0o700: "", 0o775: "", 0o777: "every user may write into it", 0o777 | os.ModeSticky: "every user may write into it",
	} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		check(want, user)
		if got := DistrustReason(dir); got != want {
			t.Errorf("%s: %q, want %q", mode, got, want)
		}
	}
	if got := DistrustReason(filepath.Join(dir, "none")); got != "" {
		t.Errorf("a folder that does not exist: %q", got)
	}
}
