package typescript_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/cmd"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// The test binary is also the program, if an environment variable is set.
func TestMain(m *testing.M) {
	if os.Getenv("TRAILBLAZE_TEST_MAIN") != "" {
		os.Unsetenv("TRAILBLAZE_TEST_MAIN")
		os.Exit(cmd.Main(cmd.NewSystem("test")))
	}
	os.Exit(m.Run())
}

// project copies the authors' project and links the packages that it uses.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("test", "project"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{ "type": "module" }`), 0o644); err != nil {
		t.Fatal(err)
	}
	link(t, dir, map[string]string{"@trailblaze/scripting": installed(t, "."), "zod": installed(t, "node_modules", "zod")})
	return dir
}

func TestTypeScriptToolsCallBack(t *testing.T) {
	t.Parallel()
	sources(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Dir(installed(t, "..", "..", "testdata", "servers", "node_modules", ".bin", "bun"))
	// These are the lines of the tool that was called, and of the call in the tool that called it.
	const thrown, caller = "generateTestUser: one user is enough (thrown at tools/users.ts:5)", "hint: thrown at tools/signup.ts:8"
	for _, tt := range []struct {
		runtime, trail string
		code           int
		want           []string
	}{
		{"bun", "join", 0, []string{"1 passed"}},
		{"bun", "twice", 1, []string{thrown, caller}},
		{"node", "join", 0, []string{"1 passed"}},
		{"node", "twice", 1, []string{thrown, caller}},
		{"embedded", "join", 0, []string{"1 passed"}},
		{"embedded", "twice", 1, []string{thrown, caller}},
	} {
		t.Run(tt.trail+" on "+tt.runtime, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("trails", tt.trail+".trail.yaml")
			c := exec.CommandContext(t.Context(), self, "run", "--verbose", "--runtime", tt.runtime, file)
			c.Dir = project(t)
			marker := spawntest.Marker()
			c.Env = append(os.Environ(), marker, "TRAILBLAZE_TEST_MAIN=1", "TRAILBLAZE_CACHE_DIR="+t.TempDir(), "GORACE=atexit_sleep_ms=0",
				"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := c.CombinedOutput()
			missing := func(want string) bool { return !strings.Contains(string(out), want) }
			if code := c.ProcessState.ExitCode(); code != tt.code || slices.ContainsFunc(tt.want, missing) {
				t.Errorf("%v, want exit code %d and %q:\n%s", err, tt.code, tt.want, out)
			}
			spawntest.NoSurvivors(t, marker)
		})
	}
}
