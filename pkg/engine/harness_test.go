package engine

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if err := checkVersions(); err != nil {
		fmt.Fprintln(os.Stderr, err) // first, because a changed layout may crash the tests
	}
	if os.Getenv("TRAILBLAZE_TEST_MEMORY_ATTACKS") != "" {
		attackMain()
		return
	}
	goleak.VerifyTestMain(m)
}

// testTimeout is how long a test waits for something that takes milliseconds, or seconds when QuickJS is compiled with
// the race detector.
const testTimeout = 2 * time.Minute

// sharedStore has the bytecode of the engine's own modules for all tests.
var sharedStore = &memoryStore{}

// A testEngine is an engine with the test's ends of its pipes.
type testEngine struct {
	*Engine
	t     *testing.T
	stdin *io.PipeWriter

	stdout, stderr *outputBuffer
}

// newTestEngine starts an engine. code is the body of the async function that a bundle is. Each change is a
// func(*Spec), or a func(*Engine) that is called before the engine starts.
func newTestEngine(t *testing.T, code string, change ...any) *testEngine {
	t.Helper()
	r, w := io.Pipe()
	g := &testEngine{t: t, stdin: w, stdout: newOutputBuffer(), stderr: newOutputBuffer()}
	spec := Spec{
		Script: "/project/tools/script.ts", Dir: t.TempDir(),
		Code:  []byte("(async(__trailblaze_require)=>{\"use strict\";\n" + code + "\n})"),
		Stdin: r, Stdout: g.stdout, Stderr: g.stderr, Store: sharedStore,
	}
	var faults []func(*Engine)
	for _, f := range change {
		switch f := f.(type) {
		case func(*Spec):
			f(&spec)
		case func(*Engine):
			faults = append(faults, f)
		}
	}
	g.Engine = newEngine(spec)
	for _, f := range faults {
		f(g.Engine)
	}
	g.begin()
	t.Cleanup(func() {
		g.Kill()
		g.wait()
	})
	return g
}

// wait returns how the engine exited.
func (g *testEngine) wait() Exit {
	g.t.Helper()
	select {
	case <-g.Done():
		return g.Exit()
	case <-time.After(testTimeout):
		g.t.Fatalf("the engine did not exit within %s; stdout %q, stderr %q", testTimeout, g.stdout, g.stderr)
		return Exit{}
	}
}

// within waits for a channel to be closed.
func within(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(testTimeout):
		t.Fatalf("timed out after %s", testTimeout)
	}
}

// run expects exit code 0 and returns the output.
func run(t *testing.T, code string, change ...any) string {
	t.Helper()
	g := newTestEngine(t, code, change...)
	if exit := g.wait(); exit != (Exit{}) {
		t.Fatalf("exit %+v; stdout %q, stderr:\n%s", exit, g.stdout, g.stderr)
	}
	return g.stdout.String()
}

// send writes to stdin.
func (g *testEngine) send(text string) {
	g.t.Helper()
	if _, err := io.WriteString(g.stdin, text); err != nil {
		g.t.Fatalf("write to stdin: %v; stderr:\n%s", err, g.stderr)
	}
}

// An outputBuffer stores what is written to a pipe.
type outputBuffer struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed *sync.Cond
	closed  bool
}

func newOutputBuffer() *outputBuffer {
	c := &outputBuffer{}
	c.changed = sync.NewCond(&c.mu)
	return c
}

func (c *outputBuffer) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, io.ErrClosedPipe
	}
	c.changed.Broadcast()
	return c.text.Write(p)
}

func (c *outputBuffer) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.changed.Broadcast()
	return nil
}

func (c *outputBuffer) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// waitFor waits until the output contains want. It fails when the pipe is closed before that.
func (c *outputBuffer) waitFor(t *testing.T, want string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	alarm := time.AfterFunc(testTimeout, func() { _ = c.Close() })
	defer alarm.Stop()
	for !strings.Contains(c.text.String(), want) {
		if c.closed {
			t.Fatalf("the output has no %q: %q", want, c.text.String())
		}
		c.changed.Wait()
	}
}

// bundledImports replaces imports of node's modules with what the bundler makes of them.
func bundledImports(code string) string {
	code = regexp.MustCompile(`(?m)^\s*import (\{[^}]*\}|\w+) from "([^"]+)";?`).ReplaceAllString(code, `const $1 = __trailblaze_require("$2", "script.ts");`)
	return regexp.MustCompile(`await import\("([^"]+)"\)`).ReplaceAllString(code, `__trailblaze_require("$1", "script.ts")`)
}
