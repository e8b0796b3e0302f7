package syntax

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		wanted     string
		candidates []string
		want       string
	}{
		{"Sav", []string{"Load", "Save", "Save"}, `"Save"`},
		{"cart", []string{"Add to cart", "Buy"}, `"Add to cart"`},
		{"xyz", []string{"a", "b", "c", "d", "e", "f"}, `"a", "b", "c", "d", "e"`},
		{"", []string{"only"}, `"only"`},
		{"x", nil, ""},
		{"Confirm it", []string{"Apply bold", "Apply bulleted", "Confirm changes to this tiddler"}, `"Confirm changes to this tiddler"`},
		{"Unable to sign in", []string{"Invalid username or password", "a"}, `"Invalid username or password", "a"`},
		{"Unable to sign in", []string{"Sign up", "Sign in here", "a"}, `"Sign in here", "Sign up"`},
		{".tc-titlebar input", []string{"input.tc-titlebar", "#bootKernel", "#input"}, `"input.tc-titlebar", "#input"`},
	} {
		if got := strings.Join(Nearest(tt.wanted, tt.candidates), ", "); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.wanted, got, tt.want)
		}
	}
}
