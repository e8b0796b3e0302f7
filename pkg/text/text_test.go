package text_test

import (
	"slices"
	"strings"
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
		{"nothing seen", text.Seen("tab", nil), "tabs: none"},
		{"some seen", text.Seen("tab", []string{"a", "b"}), "tabs: a, b"},
		{"many seen", text.Seen("tab", strings.Split("abcdefg", "")), "the last 5 of 7 tabs: c, d, e, f, g"},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", test.what, test.got, test.want)
		}
	}
	if got := text.Quote([]string{"a", `b"`}); !slices.Equal(got, []string{`"a"`, `"b\""`}) {
		t.Errorf("got %q", got)
	}
}

func TestRedactedHead(t *testing.T) {
	t.Parallel()
	redact := strings.NewReplacer("hunter2", "{{PIN}}", "hunter2 again", "{{LONG}}").Replace
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"hunter2", 7, "hunter2"}, // is not cut
		{"a hunter2", 8, "a "},
		{"a hunter2", 3, "a "},
		{"a hunter2, b", 9, "a {{PIN}}"},
		{"a hunter2, b", 10, "a {{PIN}},"},
		{"a hunt, b", 6, "a hunt"},
		{"aé", 2, "a"},
		{"a€€", 6, "a€"},
		{"a\xff\xffb", 3, "a\xff\xff"},
		{strings.Repeat("hunter2", 3000), 7000, strings.Repeat("{{PIN}}", 1000)},
		{strings.Repeat("hunter2", 3000), 7003, strings.Repeat("{{PIN}}", 1000)},
	} {
		if got := text.RedactedHead(c.text, c.n, redact); got != c.want {
			t.Errorf("%.30q, %d: %.30q, want %.30q", c.text, c.n, got, c.want)
		}
	}
}
