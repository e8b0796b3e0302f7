package emulation

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// presets.json is Playwright's table.
func TestPresetsArePlaywrights(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "presets.json")
	command := exec.Command("node", "presets.mjs", file)
	command.Dir = filepath.Join("..", "..", "..", "testdata", "web", "playwright")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(presetData) {
		t.Error("presets.json is stale; run go generate ./pkg/web/emulation")
	}
}
