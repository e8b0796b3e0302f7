package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"  tap", "device", "Taps what has a text\nor an id"},
		{"  日本語", "shop", ""},
		{"  x\x1b[31m", "a longer source", strings.Repeat("many words ", 10)},
		{},
		{"one cell"},
	}
	for name, tt := range map[string]struct {
		width int
		want  string
	}{
		"no terminal": {0, "" +
			"  tap     device           Taps what has a text or an id\n" +
			"  日本語  shop\n" +
			"  x       a longer source  " + strings.TrimSpace(strings.Repeat("many words ", 10)) + "\n" +
			"\n" +
			"one cell\n"},
		"a terminal": {60, "" +
			"  tap     device           Taps what has a text or an id\n" +
			"  日本語  shop\n" +
			"  x       a longer source  many words many words many words\n" +
			"                           many words many words many words\n" +
			"                           many words many words many words\n" +
			"                           many words\n" +
			"\n" +
			"one cell\n"},
		"a narrow terminal": {30, "" +
			"  tap     device           Taps what has a text or an id\n" +
			"  日本語  shop\n" +
			"  x       a longer source  " + strings.TrimSpace(strings.Repeat("many words ", 10)) + "\n" +
			"\n" +
			"one cell\n"},
	} {
		var out bytes.Buffer
		Table(&out, Style{Width: tt.width}, rows)
		if diff := cmp.Diff(tt.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestStatusTableHasColors(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"ok", "bun", "1.2"}, {"FAIL", "ok", "FAIL"}, {"", "", "hint: install it"}, {"warn", "a", "b"}}
	for color, want := range map[bool]string{
		false: "ok    bun  1.2\nFAIL  ok   FAIL\n           hint: install it\nwarn  a    b\n",
		true:  "\x1b[32mok\x1b[0m    bun  1.2\n\x1b[31mFAIL\x1b[0m  ok   FAIL\n           hint: install it\n\x1b[33mwarn\x1b[0m  a    b\n",
	} {
		var out bytes.Buffer
		StatusTable(&out, Style{Color: color, Width: 80}, rows)
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("color %v (-want +got):\n%s", color, diff)
		}
	}
}

func TestTableFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for width := 40; width < 120; width += 7 {
		var out bytes.Buffer
		Table(&out, Style{Width: width}, [][]string{{"name", strings.Repeat("日本 long-word ", 20)}, {"name", strings.Repeat("x", 300)}})
		for line := range strings.SplitSeq(out.String(), "\n") {
			if ansi.StringWidth(line) > width {
				t.Errorf("width %d: %q", width, line)
			}
		}
	}
}
