package text_test

import (
	"slices"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/text"
)

func TestText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ what, got, want string }{
		{"none", text.Count(0, "file"), "0 files"},
		{"one", text.Count(1, "file"), "1 file"},
		{"two", text.Count(2, "file"), "2 files"},
		{"first line", text.FirstLine("\n one \ntwo"), "one "},
		{"only line", text.FirstLine(" one "), "one"},
		{"head of a long text", text.Head("größer", 3), "grö…"},
		{"head of a text that fits", text.Head("größer", 6), "größer"},
		{"bytes within a character", text.HeadBytes("größer", 3), "gr…"},
		{"bytes that fit", text.HeadBytes("größer", 8), "größer"},
		{"long", text.Shorten("größer", 4), "grö…"},
		{"not too long", text.Shorten("größer", 6), "größer"},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", test.what, test.got, test.want)
		}
	}
	if got := text.Quote([]string{"a", `b"`}); !slices.Equal(got, []string{`"a"`, `"b\""`}) {
		t.Errorf("got %q", got)
	}
}
