package trail

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// reservedName is the first word of tokens that stand for declared arguments.
const (
	reservedName = "args"
	argsPrefix   = reservedName + "."
)

// token is a piece of text: literal text, or a name whose value replaces it.
type token struct {
	text   string // the piece: what to write when it is literal, the source when it is a name
	name   string // empty for literal text
	strict bool   // {{name}}, which must be known; ${name} need not be
	err    string // why a {{ is none, with a hint
	hint   string
}

const literalHint = `write \{{ for braces that mean themselves`

// tokensOf cuts text into tokens (specification, section 8.4).
func tokensOf(s string) iter.Seq[token] {
	return func(yield func(token) bool) {
		for s != "" {
			var t token
			if t, s = nextToken(s); !yield(t) {
				return
			}
		}
	}
}

// nextToken takes the first token off a text that is not empty.
func nextToken(s string) (t token, rest string) {
	switch {
	case strings.HasPrefix(s, `\{{`):
		return token{text: "{{"}, s[len(`\{{`):]
	case strings.HasPrefix(s, "{{") && !strings.HasPrefix(s, "{{{"): // of {{{x}}} the inner braces are the token's
		return strictToken(s)
	case strings.HasPrefix(s, "${"):
		if name, after, ok := strings.Cut(s[len("${"):], "}"); ok && memoryForm.MatchString(strings.TrimSpace(name)) {
			return token{text: s[:len(s)-len(after)], name: strings.TrimSpace(name)}, after
		}
	}
	end := len(s)
	if next := strings.IndexAny(s[1:], `\{$`); next >= 0 {
		end = 1 + next
	}
	return token{text: s[:end]}, s[end:]
}

func strictToken(s string) (t token, rest string) {
	name, after, ok := strings.Cut(s[len("{{"):], "}}")
	t = token{text: s[:len(s)-len(after)], name: strings.TrimSpace(name), strict: true}
	switch {
	case !ok:
		t.err, t.hint = "a {{ without }}", literalHint
	case t.name == "":
		t.err, t.hint = t.text+" names nothing", "write the name of a value: {{email}}; "+literalHint
	case strings.ContainsAny(t.name, "{}\n"):
		t.err, t.hint = fmt.Sprintf("%q is not the name of a value", abridge(t.text)), literalHint
	}
	return t, after
}

// abridge keeps messages readable when a brace in a script opens a token that ends far away.
func abridge(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}

// HasToken reports whether a value holds text that Interpolate may replace, so that its final form is not known yet.
func HasToken(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, "{{") || strings.Contains(v, "${")
	case []any:
		return slices.ContainsFunc(v, HasToken)
	case map[string]any:
		for _, item := range v {
			if HasToken(item) {
				return true
			}
		}
	}
	return false
}
