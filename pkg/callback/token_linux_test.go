package callback

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestOtherUserCannotCallWithoutToken sends pipelined requests from another user's process, which closes each
// connection without reading: the kernel then reports the socket as one of user 0.
func TestOtherUserCannotCallWithoutToken(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Log("only root can start a process of another user; TestRequiresTokenWithoutInvocationID covers the rule")
		return
	}
	s := startServer(t)
	var calls atomic.Int32
	register(t, s, func(context.Context, Request) Response {
		calls.Add(1)
		return Response{OK: true}
	})
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // the other user has to enter it
		t.Fatal(err)
	}
	program := filepath.Join(dir, "other-user")
	if err := os.WriteFile(program, self, 0o755); err != nil { //nolint:gosec // the other user has to run it
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program)
	c.Dir, c.Env = "/", []string{otherUserEnv + "=" + s.hosts[0] + "\n" + validRequest(s, withoutID()).String()}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("the other user's process: %v\n%s", err, out)
	}
	handled := func() int {
		s.rejections.mu.Lock()
		defer s.rejections.mu.Unlock()
		return s.rejections.n + int(calls.Load())
	}
	eventually(t, "every connection's first request is handled", func() bool { return handled() >= otherUserConnections })
	if n := calls.Load(); n > 0 {
		t.Errorf("%d requests of another user ran a tool", n)
	}
}
