package typescript_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// TestInitTypeScript writes a project, installs its packages, runs its trail, writes its types and compiles it.
func TestInitTypeScript(t *testing.T) {
	t.Parallel()
	sources(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bun := filepath.Dir(installed(t, "..", "..", "testdata", "servers", "node_modules", ".bin", "bun"))
	dir, marker := t.TempDir(), spawntest.Marker()
	trailblaze := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), self, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), marker, "TRAILBLAZE_TEST_MAIN=1", "TRAILBLAZE_CACHE_DIR="+t.TempDir(), "GORACE=atexit_sleep_ms=0",
			"PATH="+bun+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", c, err, out)
		}
		return string(out)
	}
	trailblaze("init", "--typescript")
	link(t, dir, map[string]string{
		"@trailblaze/scripting": filepath.Join(dir, "packages", "scripting"),
		"@types":                installed(t, "node_modules", "@types"), "zod": installed(t, "node_modules", "zod"),
	})
	if out := trailblaze("run"); !strings.Contains(out, "1 passed") {
		t.Errorf("run prints\n%s", out)
	}
	trailblaze("types")
	if !strings.Contains(trailblaze("schema", "trail", "--tools"), `"tool greetTwice"`) {
		t.Error("the schema of trails does not have the project's tools")
	}
	spawntest.NoSurvivors(t, marker)

	// A misspelt argument and a misspelt tool are the only errors of the compiler.
	tools := filepath.Join(dir, "tools", "greetings.ts")
	source, err := os.ReadFile(tools)
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Replace(source, []byte("tools.greet({ name })"), []byte("tools.greet({ nmae: name })"), 1)
	wrong = append(wrong, `trailblaze.tool("wrong", {}, (_, ctx, client) => client.tools.greetTwise({ name: "Ada" }));`...)
	if err := os.WriteFile(tools, wrong, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), installed(t, "node_modules", ".bin", "tsc"), "-p", dir).CombinedOutput()
	if err == nil || strings.Count(string(out), "error TS") != 2 {
		t.Errorf("%v, want two errors:\n%s", err, out)
	}
	for _, want := range []string{
		"'nmae' does not exist in type '{ name: string; }'",
		"Property 'greetTwise' does not exist on type 'ToolFunctions'. Did you mean 'greetTwice'?",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no error %q:\n%s", want, out)
		}
	}
}

// link links packages into the node_modules of a project.
func link(t *testing.T, dir string, packages map[string]string) {
	t.Helper()
	for name, target := range packages {
		place := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, place); err != nil {
			t.Fatal(err)
		}
	}
}
