package python_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// TestExamplesOfReadme runs every server of the README in the project that init writes. tests/fastmcp takes the place of
// the MCP SDK, which the tests cannot install.
func TestExamplesOfReadme(t *testing.T) {
	t.Parallel()
	dir := checkout(t)
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	blocks := func(language string) (texts []string) {
		for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(readme), -1) {
			texts = append(texts, m[1])
		}
		return texts
	}
	_, entry, _ := strings.Cut(blocks("sh")[0], "<<'END'\n")
	entry, _, _ = strings.Cut(entry, "END\n")
	want := []string{`{"text": "Hello, Ada!"}`, "Hello, Ada! Welcome.", "Hello, Ada! Welcome."}
	servers := 0
	for _, text := range blocks("python") {
		if !strings.Contains(text, "\ndef ") && !strings.Contains(text, "\nasync def ") {
			continue // it is a part of a server
		}
		if servers == len(want) {
			t.Fatalf("the README has a server more:\n%s", text)
		}
		project, wanted := t.TempDir(), want[servers]
		servers++
		marker := spawntest.Marker()
		trailblaze := func(args ...string) string {
			c := command(t, dir, self, args...)
			c.Dir = project
			c.Env = append(c.Env, marker, "TRAILBLAZE_TEST_MAIN=1", "TRAILBLAZE_CACHE_DIR="+t.TempDir(), "GORACE=atexit_sleep_ms=0",
				"PYTHONPATH="+filepath.Join(dir, "src")+string(filepath.ListSeparator)+filepath.Join(dir, "tests", "fastmcp"))
			out, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("%q: %v\n%s\n%s", args, err, out, text)
			}
			return string(out)
		}
		trailblaze("init")
		config, err := os.ReadFile(filepath.Join(project, "trailblaze.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{"users.py": text, "trailblaze.yaml": string(config) + entry} {
			if err := os.WriteFile(filepath.Join(project, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if out := trailblaze("tool", "welcome", "name=Ada"); !strings.Contains(out, wanted) {
			t.Errorf("got\n%s\nwant in it %s", out, wanted)
		}
		spawntest.NoSurvivors(t, marker)
	}
	if servers < len(want) {
		t.Errorf("the README has %d servers, want %d", servers, len(want))
	}
}
