package report

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func cleanTests() map[string][2]string {
	return map[string][2]string{
		"plain":                         {"text, ünïcödé 日本 🐤\n\tindented", "text, ünïcödé 日本 🐤\n\tindented"},
		"colour":                        {"\x1b[31mred\x1b[0m \x1b[38;2;1;2;3mtrue\x1b[m", "red true"},
		"cursor":                        {"a\x1b[2J\x1b[1;1Hb\x1b[?25lc\x1b[6n", "abc"},
		"one-character CSI":             {"a\u009b31mb", "ab"},
		"title":                         {"a\x1b]0;evil\ab\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "ablink"},
		"title, one-character end":      {"a\x1b]0;evil\u009cb", "ab"},
		"DCS and its like":              {"a\x1bPq#0\nsixel\x1b\\b\x1b_apc\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e", "abcde"},
		"two-character sequences":       {"a\x1bcb\x1b7c\x1b(Bd\x1b=e", "abcde"},
		"a sequence that never ends":    {"a\x1b[12;", "a"},
		"a title that never ends":       {"a\x1b]0;all of the text", "a0;all of the text"},
		"a title with another in it":    {"a\x1b]0;one\x1b]0;two\ab", "a0;oneb"},
		"escape at the end":             {"a\x1b", "a"},
		"escape before text":            {"a\x1b\x1b[31mb\x1b\nc\x1bäd", "ab\ncäd"},
		"bell, backspace, NUL, DEL":     {"a\ab\bc\x00d\x7fe", "abcde"},
		"line ends":                     {"a\r\nb\rc\n\r", "a\nb\nc\n\n"},
		"new control characters":        {"a\u0085b\u0080c\u009fd", "abcd"},
		"invalid UTF-8":                 {"a\x9b31mb\xff\xc3", "a\ufffd31mb\ufffd\ufffd"},
		"invalid UTF-8 and nothing":     {"\xff", "\ufffd"},
		"a replacement character":       {"\ufffd", "\ufffd"},
		"control in control parameters": {"\x1b[3\x071mx", "1mx"},
		"bidi controls":                 {"a\u202eb\u2066c\u2069\u200e\u061c", "a‹U+202E›b‹U+2066›c‹U+2069›‹U+200E›‹U+061C›"},
		"zero width":                    {"a\u200bb\u2060c\ufeff\u00ad", "a‹U+200B›b‹U+2060›c‹U+FEFF›‹U+00AD›"},
		"tags":                          {"a\U000e0061", "a‹U+E0061›"},
		"joiners between Latin letters": {"a\u200db\u200cc", "a‹U+200D›b‹U+200C›c"},
		"joiners of scripts and emoji":  {"می\u200cخواهم क्\u200dष 👩\u200d💻 ❤\ufe0f", "می\u200cخواهم क्\u200dष 👩\u200d💻 ❤\ufe0f"},
		"right-to-left text":            {"שלום עולם", "שלום עולם"},
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for name, tt := range cleanTests() {
		if got := Clean(tt[0]); got != tt[1] {
			t.Errorf("%s: Clean(%q) = %q, want %q", name, tt[0], got, tt[1])
		}
	}
}

func TestCleanTakesLinearTime(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{"\x1b]", "\x1bP", "\x1b[", "\x1b", "\x1b]\x07", "\u009b"} {
		began := time.Now()
		Clean(strings.Repeat(hostile, 1<<18))
		if took := time.Since(began); took > 20*time.Second { // quadratic would be an hour
			t.Errorf("%q over and over took %v", hostile, took)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, tt := range cleanTests() {
		f.Add(tt[0])
	}
	f.Add(hostile()[:2000])
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(c rune) bool { return c != '\n' && c != '\t' && isControl(c) || c == '\u202e' }) {
			t.Errorf("Clean(%q) = %q", s, got)
		}
		if again := Clean(got); again != got {
			t.Errorf("cleaning %q again gives %q", got, again)
		}
	})
}

func TestFormatDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0.0s", 49 * time.Millisecond: "0.0s", 1250 * time.Millisecond: "1.3s", 59940 * time.Millisecond: "59.9s", 59960 * time.Millisecond: "1m00s",
		61 * time.Second: "1m01s", time.Hour - 1: "1h00m", 90 * time.Minute: "1h30m", 26 * time.Hour: "26h00m",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("seconds(%v) = %q, want %q", d, got, want)
		}
	}
}
