package syntax

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestPatternsMatchTheSameInJavaScript lets node match texts with the translations.
func TestPatternsMatchTheSameInJavaScript(t *testing.T) {
	t.Parallel()
	patterns := []string{
		`ORD\-\d+`, `50\%`, `\Q1.50\E`, `(?s)a.b`, `a.b`, `(?i)k`, `(?i:a)b`, `a(?i)b`, `\pL+`, `\p{Greek}`, `[^\d]x`, `(?P<n>\w+)@\w+`, `(?<n>b)c`,
		`^a|b$`, `(?m)^b$`, `\Ab`, `b\z`, `\bo`, `\Bo`, `x{2,3}?`, `x{2,}`, `(ab)*c`, `a+?b`, `[[:upper:]]{2}`, `[a-c-]`, `\x{1F600}`, `😀+`, `/\]`, `\s€`,
		`(a|ab)(c|bcd)`, `[^\x00-\x7F]`, `\C`, `(?U)a+b`, `1,5|1\.5`,
	}
	texts := []string{
		"", "ORD-1042", "50%", "1.50", "1x50", "a\nb", "a b", "a\rb", "K", "K", "ab", "aB", "Ab", "AB", "müde", "Ω", "7x", "me@work", "bc", "a", "b",
		"a\nb\nc", "word oo", "xxxx", "ababc", "aaab", "-", "😀😀", "/]", "\u00a0€", " €", "abcd", "é", "1,5", "1.5", "ſ",
	}
	type match []string
	var tried []string
	var scripts []string
	want := map[string]map[string]match{}
	for _, pattern := range patterns {
		expression, err := regexp.Compile(pattern)
		if err != nil {
			continue // such as \C, which is refused
		}
		script, err := javaScriptOf(pattern)
		if err != nil {
			t.Fatal(pattern, err)
		}
		tried, scripts, want[pattern] = append(tried, pattern), append(scripts, script), map[string]match{}
		for _, text := range texts {
			want[pattern][text] = expression.FindStringSubmatch(text)
		}
	}
	input, err := json.Marshal(map[string]any{"scripts": scripts, "texts": texts})
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", "-e", `const { scripts, texts } = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(scripts.map((s) => texts.map((t) => new RegExp(s, "u").exec(t)?.map((g) => g ?? "") ?? null))))`)
	node.Stdin = strings.NewReader(string(input))
	out, err := node.CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	var got [][]match
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for i, pattern := range tried {
		for j, text := range texts {
			if is, wanted := strings.Join(got[i][j], "|"), strings.Join(want[pattern][text], "|"); is != wanted || (got[i][j] == nil) != (want[pattern][text] == nil) {
				t.Errorf("%s, as %s, finds %q in %q, want %q", pattern, scripts[i], is, text, wanted)
			}
		}
	}
	if len(tried) < 30 {
		t.Errorf("%d patterns were tried", len(tried))
	}
}
