package trail

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/text"
)

// reservedName is the first part of the name of a declared argument in a token, such as {{args.email}}.
const (
	reservedName = "args"
	argsPrefix   = reservedName + "."
)

// token is a part of a text: literal text, or a name that is replaced by its value.
type token struct {
	text   string // literal text, or the source of the token
	name   string // empty for literal text
	strict bool   // {{name}}, which must be defined; ${name} need not be
	err    string // why {{ does not start a valid token, with a hint
	hint   string
}

const literalHint = `write \{{ for literal braces`

// tokensOf splits text into tokens.
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

// nextToken returns the first token of a text that is not empty, and the rest of the text.
func nextToken(s string) (t token, rest string) {
	switch {
	case strings.HasPrefix(s, `\{{`):
		return token{text: "{{"}, s[len(`\{{`):]
	case strings.HasPrefix(s, "{{") && !strings.HasPrefix(s, "{{{"): // {{{x}}} is {, the token {{x}}, and }
		return strictToken(s)
	case strings.HasPrefix(s, "${"):
		if name, after, ok := strings.Cut(s[len("${"):], "}"); ok && memoryForm().MatchString(strings.TrimSpace(name)) {
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
		t.err, t.hint = "{{ has no closing }}", literalHint
	case t.name == "":
		t.err, t.hint = t.text+" contains no name", "write the name of a value: {{email}}; "+literalHint
	case strings.ContainsAny(t.name, "{}\n"):
		t.err, t.hint = fmt.Sprintf("%q is not the name of a value", abridge(t.text)), literalHint
	}
	return t, after
}

// abridge shortens text for a message.
func abridge(s string) string { return text.Head(s, 60) }

// BeforeTokens returns the beginning of a text that Interpolate certainly leaves as it is. found is false if that is all
// of it.
func BeforeTokens(s string) (before string, found bool) {
	before, _, strict := strings.Cut(s, "{{")
	before, _, other := strings.Cut(before, "${")
	return before, strict || other
}

// HasToken reports whether a value contains text that Interpolate may replace.
func HasToken(value any) bool {
	switch v := value.(type) {
	case string:
		_, found := BeforeTokens(v)
		return found
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

// TokenNames returns the names of the tokens of a value that Interpolate replaces, in keys of maps, too. A name may be
// there more than once.
func TokenNames(value any) (names []string) {
	switch v := value.(type) {
	case string:
		for t := range tokensOf(v) {
			if t.name != "" && t.err == "" {
				names = append(names, t.name)
			}
		}
	case []any:
		for _, item := range v {
			names = append(names, TokenNames(item)...)
		}
	case map[string]any:
		for key, item := range v {
			names = append(append(names, TokenNames(key)...), TokenNames(item)...)
		}
	}
	return names
}
