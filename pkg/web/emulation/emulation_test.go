package emulation

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// presets.json.gz is Playwright's table.
func TestPresetsArePlaywrights(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "presets.json.gz")
	command := exec.Command("node", "presets.mjs", file)
	command.Dir = filepath.Join("..", "..", "..", "testdata", "web", "playwright")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(unpacked(want)) != string(unpacked(presetData)) {
		t.Error("presets.json.gz is stale; run go generate ./pkg/web/emulation")
	}
}
