package screen_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// matching says what one pattern does with one text by both rules.
type matching struct {
	rule            string
	pattern, text   string
	native, maestro bool
}

func matchings() []matching {
	return []matching{
		{"whole text", "Save", "Save", true, true},
		{"whole text: no prefix", "Save", "Save all", false, false},
		{"whole text: no suffix", "Save", "Do Save", false, false},
		{"whole text: every alternative", "Save|Open", "Save it", false, false},
		{"whole text: second alternative", "Save|Open", "Open", true, true},
		{"whole text: alternative inside a word", "a|b", "ab", false, false},
		{"whole text: group", "(Online|Offline)", "Offline", true, true},
		{"whole text: anchors that are written", "^Save$", "Save", true, true},
		{"whole text: a trailing newline counts", "Save", "Save\n", false, false},
		{"whole text: dollar before a trailing newline", "Save$", "Save\n", false, false},
		{"empty pattern, empty text", "", "", true, true},
		{"empty pattern", "", "a", false, false},
		{"empty text", "a", "", false, false},
		{"anything", ".*", "", true, true},
		{"substring", ".*ave.*", "Save all", true, true},
		{"case", "save", "Save", false, true},
		{"case beyond ASCII", "ÄPFEL", "äpfel", false, true},
		{"case of a class", "[a-z]+", "SAVE", false, true},
		{"case: flag on", "(?i)save", "SAVE", true, true},
		{"case: flag off", "(?-i)save", "Save", false, false},
		{"case: flag off, equal", "(?-i)save", "save", true, true},
		{"case: flag for a group", "(?i:sa)ve", "SAve", true, true},
		{"case: flag for a group only", "(?i:sa)ve", "SAVE", false, true},
		{"case: flags together", "(?s-i)a.b", "a\nb", true, true},
		{"case: flags together, off", "(?s-i)a.b", "A\nb", false, false},
		{"a flag covers every alternative", "(?i)save|open", "OPEN", true, true},
		{"dot and newline", "a.b", "a\nb", false, true},
		{"dot and newline: flag on", "(?s)a.b", "a\nb", true, true},
		{"dot and newline: flag off", "(?-s)a.b", "a\nb", false, false},
		{"star and newline", ".*", "a\nb", false, true},
		{"lines", "a$\n^b", "a\nb", false, true},
		{"lines: flag on", "(?m)a$\n^b", "a\nb", true, true},
		{"lines: the whole text all the same", "^b$", "a\nb", false, false},
		{"lines: the whole text all the same, flag on", "(?m)^b$", "a\nb", false, false},
		{"comments flag is ignored", "(?x)a b", "a b", true, true},
		{"comments flag is ignored: spaces count", "(?x)a b", "ab", false, false},
		{"comments flag among others", "(?ix)A B", "a b", true, true},
		{"flags that change nothing", "(?u)a", "a", true, true},
		{"quote", `\Qa.b\E`, "a.b", true, true},
		{"quote: nothing is special", `\Qa.b\E`, "axb", false, false},
		{"quote: the rest is a pattern", `\Qa.b\E.+`, "a.bcd", true, true},
		{"quote: in the middle", `x\Q(\Ey`, "x(y", true, true},
		{"quote without an end", `\Qa.b`, "a.b", true, true},
		{"quote without an end: nothing is special", `\Qa.b`, "axb", false, false},
		{"quote without an end: parentheses", `\Qa)(b`, "a)(b", true, true},
		{"quote without an end: backslash last", `\Qa\`, `a\`, true, true},
		{"quote without an end: after an escape", `\\\Qa.b`, `\a.b`, true, true},
		{"an escaped backslash before Q quotes nothing", `\\Qa.b`, `\Qaxb`, true, true},
		{"quote: case", `\QSave\E`, "save", false, true},
		{"substring as text tools write it", `.*\QSa.e\E.*`, "do Sa.e now", true, true},
		{"substring as text tools write it: quoted", `.*\QSa.e\E.*`, "do Save now", false, false},
		{"escaped", `Discard\?`, "Discard?", true, true},
		{"not escaped: the pattern", "Discard?", "Discar", true, true},
		{"equal to the pattern", "Discard?", "Discard?", true, true},
		{"equal to the pattern: with case", "Discard?", "discard?", false, false},
		{"equal to the pattern: plus", "Weight (kg)", "Weight (kg)", true, true},
		{"equal to the pattern: plus, with case", "Weight (kg)", "weight (KG)", false, false},
		{"malformed: equal", "Total (", "Total (", true, true},
		{"malformed: with case", "Total (", "total (", false, true},
		{"malformed: not contained", "Total (", "Total (2", false, false},
		{"malformed: class", "[", "[", true, true},
		{"malformed: quantifier", "*", "*", true, true},
		{"malformed: closes the group around it", "a)|(b", "b", false, false},
		{"malformed: closes the group around it, equal", "a)|(b", "a)|(b", true, true},
		{"malformed: escapes the group's end", `a\`, `a\`, true, true},
		{"malformed: escapes the group's end, other", `a\`, "a", false, false},
		{"malformed: quoted as a whole", "a.(", "ax(", false, false},
		{"digits", `\d+ items`, "12 items", true, true},
		{"classes", `[A-Z][a-z]*\s\d{2}`, "May 12", true, true},
		{"bracket in a class", `[\[\]]+`, "[]", true, true},
		{"bracket at the start of a class", `[]a]+`, "a]", true, true},
		{"unicode class", `\p{L}+`, "Grüße", true, true},
		{"lazy quantifier", "a.*?b", "axxb", true, true},
		{"token that nothing replaced", "{{target.appId}}", "{{target.appId}}", true, true},
	}
}

func TestPatternsMatchByTheRulesOfTheirDialect(t *testing.T) {
	t.Parallel()
	for _, m := range matchings() {
		t.Run(m.rule, func(t *testing.T) {
			t.Parallel()
			for rules, want := range map[screen.Rules]bool{screen.NativeRules: m.native, screen.MaestroRules: m.maestro} {
				p, err := screen.CompilePattern(m.pattern, rules)
				if err != nil {
					t.Fatal(err)
				}
				if got := p.Matches(m.text); got != want {
					t.Errorf("rules %d: pattern %q, text %q: %v, want %v", rules, m.pattern, m.text, got, want)
				}
			}
		})
	}
}

func TestUnsupportedConstructsAreNamed(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"(?=a)b":              "a look-ahead (?=…)",
		"a(?!b)":              "a look-ahead (?!…)",
		"(?<=a)b":             "a look-behind (?<=…)",
		"(?<!a)b":             "a look-behind (?<!…)",
		"(?>a)b":              "an atomic group (?>…)",
		`(a)\1`:               `a back-reference (\1)`,
		`(a)\12`:              `a back-reference (\1)`,
		`(?<n>a)\k<n>`:        `a back-reference (\k<n>)`,
		"a++":                 "a possessive quantifier (++)",
		"a*+b":                "a possessive quantifier (*+)",
		"a{2}+":               "a possessive quantifier ({2}+)",
		"a{2,}+":              "a possessive quantifier ({2,}+)",
		"a?+":                 "a possessive quantifier (?+)",
		"[a-z&&[^b]]":         "an intersection of character classes (&&)",
		"[a[bc]]":             "a character class inside another one",
		`a\Z`:                 `the escape \Z`,
		"\\u0041":             `the escape \u0041`,
		`\h+`:                 `the escape \h`,
		`[\h]`:                `the escape \h`,
		`\Q(?=a)\E(?!b)`:      "a look-ahead (?!…)",
		`\[(?=a)`:             "a look-ahead (?=…)",
		`[\]](?=a)`:           "a look-ahead (?=…)",
		`(?<name>a)(?<!name)`: "a look-behind (?<!…)",
	} {
		for _, rules := range []screen.Rules{screen.NativeRules, screen.MaestroRules} {
			if _, err := screen.CompilePattern(pattern, rules); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%q: %v, want %s", pattern, err, want)
			}
		}
	}
	for _, pattern := range []string{
		`\Q(?=a)\E`, `\Q(?=a)`, `\(?=a`, "[(?=a)]", `\\Q(a)`, `a\++`, "[*+]", `\{2\}+`, "(?<name>a)", "(?P<name>a)", "[&]", "a{,2}+",
		"[[:alpha:]]", `[\[]`, "[^]a]",
	} {
		if _, err := screen.CompilePattern(pattern, screen.NativeRules); err != nil {
			t.Errorf("%q: %v, but it is supported", pattern, err)
		}
	}
}

func TestPatternsThatAreTooLargeAreErrors(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"a{1001}", strings.Repeat("(", 1001) + strings.Repeat(")", 1001), "((a{100}){100}){100}"} {
		if _, err := screen.CompilePattern(pattern, screen.NativeRules); err == nil {
			t.Errorf("%.20q is compiled", pattern)
		}
	}
}

func TestLiteralsOfPatterns(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"Save": "Save", `Discard\?`: "Discard?", `\Qa.b\E`: "a.b", `\Qa.b`: "a.b", "": "", "(": "(", "(?i)Save": "-", "a|b": "-", ".*": "-",
	} {
		p, err := screen.CompilePattern(pattern, screen.NativeRules)
		if err != nil {
			t.Fatal(err)
		}
		text, ok := p.Literal()
		if pattern == "(?i)Save" {
			want = "SAVE" // the parser folds it; any case is as good
		}
		if want == "-" && ok || want != "-" && text != want {
			t.Errorf("%q: literal %q, %v, want %q", pattern, text, ok, want)
		}
	}
	p, err := screen.CompilePattern(`.*\Qa.b\E.*`, screen.MaestroRules)
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := p.Contained(); !ok || text != "a.b" {
		t.Errorf("contained: %q, %v", text, ok)
	}
}

// checkQuoted fails when a quoted text does not match itself alone.
func checkQuoted(t *testing.T, text string, rules screen.Rules) {
	t.Helper()
	if !utf8.ValidString(text) {
		return
	}
	p, err := screen.CompilePattern(screen.QuotePattern(text), rules)
	if err != nil || p.Malformed() != nil {
		t.Fatalf("rules %d: quoted %q: %v", rules, text, err)
	}
	if literal, ok := p.Literal(); !ok || literal != text || !p.Matches(text) || p.Matches(text+"x") {
		t.Errorf("rules %d: quoted %q matches %q", rules, text, literal)
	}
}

func FuzzPatternsNeverMatchPartOfAText(f *testing.F) {
	for _, m := range matchings() {
		f.Add(m.pattern, m.text)
	}
	f.Add("a", `a\Eb\`)
	f.Add("a", `\E\E\Q`)
	f.Fuzz(func(t *testing.T, pattern, text string) {
		for _, rules := range []screen.Rules{screen.NativeRules, screen.MaestroRules} {
			checkQuoted(t, text, rules)
			p, err := screen.CompilePattern(pattern, rules)
			if err != nil {
				continue
			}
			if !p.Matches(pattern) {
				t.Errorf("rules %d: %q does not match itself", rules, pattern)
			}
			literal, ok := p.Literal()
			if !ok || p.Malformed() != nil {
				continue
			}
			if rules == screen.NativeRules && strings.ToLower(pattern) == strings.ToUpper(pattern) &&
				p.Matches(text) && text != literal && text != pattern {
				t.Errorf("%q matches %q, but is the literal %q", pattern, text, literal)
			}
		}
	})
}

func TestExactPatternMeansItsText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Save":         "Save",
		"":             "",
		"Save all":     "Save all",
		"a.b":          `a\.b`,
		"$5":           `\$5`,
		"Total (2)":    `Total \(2\)`,
		"(?i)save":     `\(\?i\)save`,
		"(?x)save":     `\(\?x\)save`,
		"a|b":          `a\|b`,
		"[x]":          `\[x\]`,
		"[x":           `\[x`,
		"a++":          `a\+\+`,
		`C:\Q`:         `C:\\Q`,
		`\E`:           `\\E`,
		`\d`:           `\\d`,
		"Ä & Ö – „x“":  "Ä & Ö – „x“",
		`"quoted" one`: `"quoted" one`,
	} {
		if got := screen.ExactPattern(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzExactPattern(f *testing.F) {
	for _, text := range []string{"Save", "a.b", `\E`, `\Q`, "(?i)a", "a{2}", "[[:alpha:]]", `x\`, "^$", "\xff", "(?x) a b"} {
		f.Add(text, "Save")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		if !utf8.ValidString(text) || !utf8.ValidString(other) {
			t.Skip()
		}
		p, err := screen.CompilePattern(screen.ExactPattern(text), screen.NativeRules)
		if err != nil {
			t.Fatal(err)
		}
		if only, ok := p.Literal(); !p.Matches(text) || !ok || only != text || p.Matches(other) && other != text && other != p.String() {
			t.Errorf("the pattern for %q is %q; literal %q, %v; matches %q: %v", text, p, only, ok, other, p.Matches(other))
		}
	})
}
