package screen_test

import (
	"testing"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

func TestIconsAreNoPartOfNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"\uf105 Flows": "Flows", "\uf0c9": "", "a  b": "a  b", "a \uf105 b": "a b", "": ""} {
		if got := screen.WithoutIcons(text); got != want {
			t.Errorf("%q without icons is %q, want %q", text, got, want)
		}
	}
	for name, want := range map[string]string{"\uf0c9": "only characters of an icon font", "\uf105 Flows": "", "": ""} {
		if got := screen.MayChange(name); got != want {
			t.Errorf("of %q may change: %q, want %q", name, got, want)
		}
	}
}
