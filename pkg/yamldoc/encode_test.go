package yamldoc_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// awkward is text that some YAML reader takes for something else.
var awkward = []string{
	"", " ", "a", "a b", " a", "a ", "null", "Null", "~", "true", "yes", "no", "on", "y", "1", "01", "1e3", ".5", "0x1F",
	"1_000", "1:30",
	"-", "- a", "? a", ":", "a: b", "a:", "#", "a #b", "{{x}}", "{{ x }} and ${y}", "{", "[", "&a", "*a", "!a", "%a", "@a",
	"`a", "|", ">",
	"'", "it's", `"`, `"a"`, `\`, `\n`, "a\nb", "a\nb\n", "a\n\n", "\na", "  a\nb", "a \nb", "a\n  b\n", "a\n\nb", "a\tb",
	"\ta\nb", "a\r\nb", "\r",
	"<<", "...", "---", "--- a", "2024-01-01", ".inf", ".nan", "é", "日本語", "😀", "\u0085", "\u2028", "\ufeff", "\x00",
	"\x1b[31m", "\u200d",
	"% of", "a, b", "a]", "=", "!!str", "0o17", "12345678901234567890123", "a\n# b", "a\n--- b", "a\n...", "---\na",
	"\u00a0x",
}

func roundTrip(t *testing.T, value any) {
	t.Helper()
	data, err := yamldoc.Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	doc, root := yamldoc.Parse("f.yaml", fault.Trail, data)
	got := root.Value()
	if p := doc.Problems(); len(p) > 0 {
		t.Fatalf("%v in:\n%s", p, data)
	}
	if diff := cmp.Diff(value, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s\nfrom:\n%s", diff, data)
	}
}

func TestEncodedValuesReadBackTheSame(t *testing.T) {
	t.Parallel()
	for _, text := range awkward {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			roundTrip(t, text)
			roundTrip(t, map[string]any{text: []any{text, map[string]any{text: text, "z": text}, []any{text}}})
		})
	}
	for _, n := range []any{
		nil, true, false, int64(0), int64(-7), int64(math.MaxInt64), int64(math.MinInt64), uint64(math.MaxUint64),
		1.0, -0.5, 1e6, 1e21, 5e-324, math.MaxFloat64,
		map[string]any{},
		[]any{},
		[]any{[]any{}, map[string]any{}},
	} {
		roundTrip(t, []any{n, map[string]any{"x": n}})
	}
}

func TestEncodeKeepsOrderOfMapAndBlocksOfText(t *testing.T) {
	t.Parallel()
	got, err := yamldoc.Encode(yamldoc.Map{
		{"z", "plain text"},
		{"a", []any{yamldoc.Map{{"script", "one\n\n  two\n"}, {"count", 1}}, []any{"x"}}},
		{"empty", yamldoc.Map{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"z: plain text", "a:", "  - script: |", "      one", "", "        two", "    count: 1", "  - - x", "empty: {}", "",
	}, "\n")
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("encoded (-want +got):\n%s", diff)
	}
}

func TestEncodeRejectsWhatYAMLCannotHold(t *testing.T) {
	t.Parallel()
	deep := any("x")
	for range 1000 {
		deep = []any{deep}
	}
	for name, v := range map[string]any{
		"infinity": math.Inf(1), "not a number": math.NaN(), "bytes": "\xff", "channel": make(chan int), "depth": deep,
		"key": map[string]any{"\xff": 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out, err := yamldoc.Encode([]any{v}); err == nil {
				t.Errorf("no error, wrote %q", out)
			}
		})
	}
}

func FuzzEncode(f *testing.F) {
	for _, text := range awkward {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, key, text string) {
		if !utf8.ValidString(key) || !utf8.ValidString(text) {
			return // text is always UTF-8
		}
		roundTrip(t, map[string]any{key: []any{text, map[string]any{"x": text}}, "list": []any{[]any{text, key}}})
	})
}
