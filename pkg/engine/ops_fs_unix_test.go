//go:build linux || darwin

package engine

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// Opening a pipe without a writer would block a goroutine without end.
func TestDoesNotOpenBlockingFiles(t *testing.T) {
	t.Parallel()
	pipe := t.TempDir() + "/pipe"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, bundledImports(fmt.Sprintf(`
		import fs from "node:fs";
		for (const file of [%q, "/dev/stdin", "/proc/self/fd/0"]) {
			try { fs.readFileSync(file) } catch (error) { console.log(error.code, error.message.includes("not pipes, sockets and devices")) }
		}`, pipe)))
	if want := strings.Repeat("ENOTSUP true\n", 3); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
