package syntax

import "testing"

// The names are codes of Playwright's keyboard.
func TestKeysByTheirCodes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Key{
		"Minus": {"-", "Minus", 189, "-", 0}, "backquote": {"`", "Backquote", 192, "`", 0}, "BracketLeft": {"[", "BracketLeft", 219, "[", 0},
		"Digit7": {"7", "Digit7", 55, "7", 0}, "KeyQ": {"q", "KeyQ", 81, "q", 0}, "+": {"+", "Equal", 187, "+", 0},
		"NumpadEnter": {"Enter", "NumpadEnter", 13, "\r", 3}, "Numpad4": {"4", "Numpad4", 100, "4", 3},
		"NumpadAdd": {"+", "NumpadAdd", 107, "+", 3}, "ShiftRight": {"Shift", "ShiftRight", 16, "", 2}, "Enter": {"Enter", "Enter", 13, "\r", 0},
	} {
		if got, err := KeyNamed(name); err != nil || got != want {
			t.Errorf("%s is %+v, %v, want %+v", name, got, err, want)
		}
	}
	if held, k, err := ParseKeys("Control+Minus"); err != nil || len(held) != 1 || k.code != "Minus" {
		t.Errorf("%v %v %v", held, k, err)
	}
}

func TestShortcutsOfSystems(t *testing.T) {
	t.Parallel()
	for goos, want := range map[string]string{"darwin": "Meta", "linux": "Control", "windows": "Control"} {
		if got := controlOrMeta(goos); got != want {
			t.Errorf("ControlOrMeta on %s is %s", goos, got)
		}
	}
	a, _ := KeyNamed("a")
	left, _ := KeyNamed("ArrowLeft")
	for _, tt := range []struct {
		k         Key
		modifiers int
		goos      string
		want      any
	}{
		{a, meta, "darwin", []string{"selectAll"}},
		{left, shift | meta, "darwin", []string{"moveToLeftEndOfLineAndModifySelection"}},
		{left, alt, "darwin", []string{"moveWordLeft"}},
		{a, 0, "darwin", nil},
		{a, meta, "linux", nil},
	} {
		got, is := tt.k.down(tt.modifiers, tt.goos)["commands"].([]string)
		if want, wanted := tt.want.([]string); is != wanted || is && got[0] != want[0] {
			t.Errorf("%s with %d on %s: %q, want %q", tt.k.code, tt.modifiers, tt.goos, got, tt.want)
		}
	}
}
