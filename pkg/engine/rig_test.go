package engine

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient is how long a test waits for what should take milliseconds, and takes seconds with the race detector in all of QuickJS.
const patient = 2 * time.Minute

// compiled keeps the bytecode of the host's modules for all tests.
var compiled = &shelf{}

// A rig is an engine with its pipes in the test's hands.
type rig struct {
	*Engine
	t     *testing.T
	stdin *io.PipeWriter

	out, errs *captured
}

// newRig starts an engine on code, which is the body of an async function, as a bundle's is. A change is a func(*Spec), or a
// func(*Engine) to call before it lives.
func newRig(t *testing.T, code string, change ...any) *rig {
	t.Helper()
	r, w := io.Pipe()
	g := &rig{t: t, stdin: w, out: newCaptured(), errs: newCaptured()}
	spec := Spec{
		Script: "/project/tools/script.ts", Dir: t.TempDir(),
		Code:  []byte("(async(__trailblaze_require)=>{\"use strict\";\n" + code + "\n})"),
		Stdin: r, Stdout: g.out, Stderr: g.errs, Store: compiled,
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
	g.start()
	t.Cleanup(func() {
		g.Kill()
		g.wait()
	})
	return g
}

// wait returns how the engine ended.
func (g *rig) wait() Exit {
	g.t.Helper()
	select {
	case <-g.Done():
		return g.Exit()
	case <-time.After(patient):
		g.t.Fatalf("the engine has not ended after %s; stdout %q, stderr %q", patient, g.out, g.errs)
		return Exit{}
	}
}

// within waits for what should come at once.
func within(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patient):
		t.Fatalf("it has not come after %s", patient)
	}
}

// run expects an end with code 0 and returns what was written to stdout.
func run(t *testing.T, code string, change ...any) string {
	t.Helper()
	g := newRig(t, code, change...)
	if exit := g.wait(); exit != (Exit{}) {
		t.Fatalf("exit %+v; stdout %q, stderr:\n%s", exit, g.out, g.errs)
	}
	return g.out.String()
}

// send writes to stdin.
func (g *rig) send(text string) {
	g.t.Helper()
	if _, err := io.WriteString(g.stdin, text); err != nil {
		g.t.Fatalf("write to stdin: %v; stderr:\n%s", err, g.errs)
	}
}

// A captured is a pipe's end that keeps what is written.
type captured struct {
	mu     sync.Mutex
	text   bytes.Buffer
	news   *sync.Cond
	closed bool
}

func newCaptured() *captured {
	c := &captured{}
	c.news = sync.NewCond(&c.mu)
	return c
}

func (c *captured) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, io.ErrClosedPipe
	}
	c.news.Broadcast()
	return c.text.Write(p)
}

func (c *captured) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.news.Broadcast()
	return nil
}

func (c *captured) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// await waits until the text holds want, or fails when the pipe was closed without it.
func (c *captured) await(t *testing.T, want string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	alarm := time.AfterFunc(patient, func() { _ = c.Close() })
	defer alarm.Stop()
	for !strings.Contains(c.text.String(), want) {
		if c.closed {
			t.Fatalf("%q was never written, but %q", want, c.text.String())
		}
		c.news.Wait()
	}
}

// bundledImports writes imports of node's modules as a bundle has them.
func bundledImports(code string) string {
	code = regexp.MustCompile(`(?m)^\s*import (\{[^}]*\}|\w+) from "([^"]+)";?`).ReplaceAllString(code, `const $1 = __trailblaze_require("$2", "script.ts");`)
	return regexp.MustCompile(`await import\("([^"]+)"\)`).ReplaceAllString(code, `__trailblaze_require("$1", "script.ts")`)
}
