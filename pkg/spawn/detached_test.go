//go:build unix

package spawn

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestDetachedProcessHasSessionOfItsOwn(t *testing.T) {
	t.Parallel()
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := StartDetached(DetachedSpec{
		Path: self, Dir: t.TempDir(), Env: append(os.Environ(), roleVariable+"=echo"), Stderr: stderr,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p.Stdin, "hello\n"); err != nil {
		t.Error(err)
	}
	if line, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil || !strings.Contains(line, "hello") {
		t.Errorf("stdout %q, %v", line, err)
	}
	if group, err := syscall.Getpgid(p.PID); err != nil || group != p.PID {
		t.Errorf("group %d of process %d, %v", group, p.PID, err)
	}
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	text, err := os.ReadFile(stderr.Name())
	if err != nil || !strings.Contains(string(text), "cleaned up") {
		t.Errorf("stderr %q, %v", text, err)
	}
	if _, err := StartDetached(DetachedSpec{Path: filepath.Join(t.TempDir(), "missing"), Stderr: stderr}); err == nil {
		t.Error("a program that does not exist was started")
	}
}
