//go:build unix

package bundle

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestPipeHasNoContent(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"main.ts": "import './pipe'"})
	for _, name := range []string{"pipe.ts", "package.json", "tsconfig.json"} {
		mkfifo(t, filepath.Join(dir, name))
		if got := state(contentDep, filepath.Join(dir, name)); got != absent {
			t.Errorf("the content of a pipe is %q", got)
		}
	}
}

func TestRejectsImportedPipe(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"main.ts": "import './pipe'"})
	mkfifo(t, filepath.Join(dir, "pipe.ts"))
	_, err := Open("").Bundle(t.Context(), filepath.Join(dir, "main.ts"), Embedded)
	if e := fault.As(err); e == nil || e.Message != "main.ts:1:8: cannot read pipe.ts: not a regular file" {
		t.Errorf("the error is %v", err)
	}
}

func TestPipesDoNotBlock(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, pipe, text, want string }{
		{"a map", "m.map", "console.log(1)\n//# sourceMappingURL=m.map\n", ""},
		{"a map in a long comment", "m.map", "console.log(1)\n/*# sourceMappingURL=./m.map*/\n", ""},
		{"a map by its URL", "m.map", "console.log(1)\n//# sourceMappingURL=file://DIR/m.map", ""},
		{"several maps", "m.map", "//# sourceMappingURL=m.map\n//# sourceMappingURL=m.map", ""},
		{"configuration", "tsconfig.json", "", "DIR/tsconfig.json is not a readable regular file"},
		{"a package", "package.json", "", "DIR/package.json is not a readable regular file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := project(t, nil)
			mkfifo(t, filepath.Join(dir, tc.pipe))
			write(t, filepath.Join(dir, "main.ts"), strings.ReplaceAll(tc.text, "DIR", dir))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := Open("").Bundle(ctx, filepath.Join(dir, "main.ts"), Embedded)
			if want := strings.ReplaceAll(tc.want, "DIR", dir); want == "" && err != nil || want != "" && (err == nil || fault.As(err).Message != want) {
				t.Errorf("the error is %v, want %q", err, want)
			}
		})
	}
}

func TestCancelDuringBuild(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"main.ts": "import './in/a'", "in/a.ts": "", "other.ts": "console.log(1)"})
	pipe := filepath.Join(dir, "in", "tsconfig.json") // which only esbuild reads
	mkfifo(t, pipe)
	c, script := Open(t.TempDir()), filepath.Join(dir, "main.ts")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 3)
	for range cap(ended) { // one builds, and the others wait for it
		go func() {
			_, err := c.Bundle(ctx, script, Embedded)
			ended <- err
		}()
	}
	openPipeForWriting(t, pipe) // returns when esbuild reads from it
	cancel()
	for range cap(ended) {
		select {
		case err := <-ended:
			if fault.KindOf(err) != fault.Cancelled {
				t.Errorf("the error is %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("Bundle does not return after its context was cancelled")
		}
	}
	buildBundle(t, c, filepath.Join(dir, "other.ts"), Embedded)
}

func TestBuildTimeout(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"main.ts": "import './in/a'", "in/a.ts": ""})
	pipe := filepath.Join(dir, "in", "tsconfig.json")
	mkfifo(t, pipe)
	c, ended := Open(""), make(chan error, 1)
	c.buildTimeout = 5 * time.Second
	go func() {
		_, err := c.Bundle(t.Context(), filepath.Join(dir, "main.ts"), Embedded)
		ended <- err
	}()
	openPipeForWriting(t, pipe)
	want := "bundling " + filepath.Join(dir, "main.ts") + " timed out after 5s"
	if e := fault.As(<-ended); e == nil || e.Kind != fault.Server || e.Message != want {
		t.Errorf("the error is %v, want %q", e, want)
	}
}

// openPipeForWriting opens a pipe as soon as there is a reader, and closes it when the test ends.
func openPipeForWriting(t *testing.T, pipe string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		file, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			t.Cleanup(func() { _ = file.Close() })
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the pipe has no reader: %v", err)
		}
		runtime.Gosched()
	}
}

func mkfifo(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
}
