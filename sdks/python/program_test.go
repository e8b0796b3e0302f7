package python_test

import (
	"os"
	"path/filepath"
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

func TestToolsInPythonTalkBack(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		trail string
		code  int
		want  string
	}{
		{"shop", 0, "1 passed"},
		{"fails", 1, "assertEquals: expected 1, found 2"},
	} {
		t.Run(tt.trail, func(t *testing.T) {
			t.Parallel()
			c := command(t, checkout(t), self, "run", "--verbose", filepath.Join("trails", tt.trail+".trail.yaml"))
			c.Dir = filepath.Join(c.Dir, "tests", "project")
			marker := spawntest.Marker()
			c.Env = append(c.Env, marker, "TRAILBLAZE_TEST_MAIN=1", "TRAILBLAZE_CACHE_DIR="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
			out, err := c.CombinedOutput()
			if code := c.ProcessState.ExitCode(); code != tt.code || !strings.Contains(string(out), tt.want) {
				t.Errorf("%v, want exit code %d and %q:\n%s", err, tt.code, tt.want, out)
			}
			spawntest.NoSurvivors(t, marker)
		})
	}
}
