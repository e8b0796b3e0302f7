package engine

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each script in testdata/node_parity must print the same in the engine as in node.
func TestScriptsMatchNode(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/node_parity/*.mjs")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".mjs"), func(t *testing.T) {
			t.Parallel()
			code, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(runNodeInTempDir(t, string(code)), runInTempDir(t, string(code))); diff != "" {
				t.Errorf("(-node +embedded):\n%s", diff)
			}
		})
	}
}

// runInTempDir runs a script and returns its output, in which $DIR replaces its directory.
func runInTempDir(t *testing.T, code string) string {
	t.Helper()
	dir := t.TempDir()
	out := run(t, bundledImports(code), func(s *Spec) { s.Dir, s.Env = dir, []string{"HOME=" + dir} })
	return strings.ReplaceAll(out, dir, "$DIR")
}

func runNodeInTempDir(t *testing.T, code string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("node 20 is missing: %v", err)
	}
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "script.mjs")
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), node, file)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, []string{"HOME=" + dir}, &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, errs.String())
	}
	return strings.ReplaceAll(string(out), dir, "$DIR")
}
