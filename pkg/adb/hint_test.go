package adb

import (
	"strings"
	"testing"
)

func TestHintsAreForTheSystem(t *testing.T) {
	t.Parallel()
	tools := map[string]string{"linux": "apt-get", "darwin": "brew", "windows": "winget"}
	for system := range tools {
		for of, tool := range tools {
			if hint := installHint(system); strings.Contains(hint, tool) != (of == system) {
				t.Errorf("%s: %s", system, hint)
			}
		}
	}
}
