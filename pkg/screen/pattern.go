package screen

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// Rules are the rules by which patterns match (specification, section 17).
type Rules int

const (
	// NativeRules match with case and within a line, unless the pattern has flags.
	NativeRules Rules = iota
	// MaestroRules ignore case, let a dot match a newline, and ^ and $ match at lines.
	MaestroRules
)

// Pattern is a regular expression that has to match the whole of a text. A text that equals the pattern as it is
// written matches, too.
type Pattern struct {
	raw       string
	compiled  *regexp.Regexp // nil for a malformed pattern by NativeRules
	malformed error
}

// CompilePattern makes a pattern. The error names a construct of Java's regular expressions that Go's do not have, such
// as a look-ahead. A pattern that is not a regular expression matches what equals it; see Malformed.
func CompilePattern(raw string, rules Rules) (*Pattern, error) {
	if construct := unsupportedConstruct(raw); construct != "" {
		return nil, errors.New(construct + " is not supported in patterns")
	}
	p := &Pattern{raw: raw}
	bare := withoutFlags(raw)
	if _, err := syntax.Parse(bare, syntax.Perl); err != nil {
		if tooLarge(err) {
			return nil, err
		}
		p.malformed = err
		if rules == NativeRules {
			return p, nil
		}
		bare = regexp.QuoteMeta(raw)
	}
	group := `\A(?:`
	if rules == MaestroRules {
		group = `\A(?ism:`
	}
	compiled, err := regexp.Compile(group + closeQuote(bare) + `)\z`)
	if err != nil {
		return nil, err // it is too large with the group around it
	}
	p.compiled = compiled
	return p, nil
}

// QuotePattern returns a pattern that matches text as it is.
func QuotePattern(text string) string {
	return `\Q` + strings.ReplaceAll(text, `\E`, `\E\\E\Q`) + `\E`
}

// ExactPattern returns a pattern that matches only text, as a person writes it: with a backslash before each character
// that means something else in a regular expression.
func ExactPattern(text string) string { return regexp.QuoteMeta(text) }

// Matches reports whether the pattern matches the whole of text.
func (p *Pattern) Matches(text string) bool {
	return p.compiled != nil && p.compiled.MatchString(text) || text == p.raw
}

// Malformed returns what is wrong with a pattern that is not a regular expression, else nil.
func (p *Pattern) Malformed() error { return p.malformed }

// String returns the pattern as it was written.
func (p *Pattern) String() string { return p.raw }

// Literal returns the only text that the pattern matches, but for its case. It is false when there are several.
func (p *Pattern) Literal() (string, bool) {
	tree := p.syntaxTree()
	if tree == nil {
		return p.raw, true
	}
	return literal(tree)
}

// Contained returns the text that everything the pattern matches contains, for a pattern like .*text.*, else false.
func (p *Pattern) Contained() (string, bool) {
	tree := p.syntaxTree()
	if tree == nil || tree.Op != syntax.OpConcat || len(tree.Sub) != 3 {
		return "", false
	}
	for _, end := range []*syntax.Regexp{tree.Sub[0], tree.Sub[2]} {
		if end.Op != syntax.OpStar || end.Sub[0].Op != syntax.OpAnyCharNotNL && end.Sub[0].Op != syntax.OpAnyChar {
			return "", false
		}
	}
	return literal(tree.Sub[1])
}

// syntaxTree returns the tree of the regular expression, nil for a malformed one.
func (p *Pattern) syntaxTree() *syntax.Regexp {
	tree, err := syntax.Parse(withoutFlags(p.raw), syntax.Perl)
	if err != nil {
		return nil
	}
	return tree
}

func literal(tree *syntax.Regexp) (string, bool) {
	if tree.Op != syntax.OpLiteral && tree.Op != syntax.OpEmptyMatch {
		return "", false
	}
	return string(tree.Rune), true
}

// tooLarge reports whether a valid expression was refused for its size.
func tooLarge(err error) bool {
	var e *syntax.Error
	return errors.As(err, &e) &&
		(e.Code == syntax.ErrLarge || e.Code == syntax.ErrNestingDepth || e.Code == syntax.ErrInvalidRepeatSize)
}

// leadingFlags is a group of flags at the beginning that stands alone, as in (?ix), or opens a group, as in (?i:a).
var leadingFlags = lazyregexp.New(`^\(\?([a-zA-Z]*)(-[a-zA-Z]*)?([:)])`)

// withoutFlags leaves out the flags of a leading group that change nothing here: x, u and d.
func withoutFlags(raw string) string {
	group := leadingFlags().FindStringSubmatch(raw)
	if group == nil {
		return raw
	}
	drop := strings.NewReplacer("x", "", "u", "", "d", "").Replace
	on, off, end, rest := drop(group[1]), drop(group[2]), group[3], raw[len(group[0]):]
	if off == "-" {
		off = ""
	}
	if on+off == "" && end == ")" {
		return rest
	}
	return "(?" + on + off + end + rest
}

// closeQuote ends a \Q that nothing ends, so that something can follow.
func closeQuote(expression string) string {
	for i := 0; i+1 < len(expression); i++ {
		if expression[i] != '\\' {
			continue
		}
		i++
		if expression[i] != 'Q' {
			continue
		}
		end := strings.Index(expression[i:], `\E`)
		if end < 0 {
			return expression + `\E`
		}
		i += end + 1
	}
	return expression
}

// unsupportedConstruct names the first construct in a pattern that Java's regular expressions have and Go's have not,
// or read differently; "" without one.
func unsupportedConstruct(raw string) string {
	inClass := false
	for i := 0; i < len(raw); i++ {
		rest := raw[i:]
		switch {
		case strings.HasPrefix(rest, `\Q`):
			end := strings.Index(rest, `\E`)
			if end < 0 {
				return ""
			}
			i += end + 1
		case rest[0] == '\\':
			if construct := unsupportedEscape(rest, inClass); construct != "" {
				return construct
			}
			i++
		case inClass:
			if construct := unsupportedInClass(rest); construct != "" {
				return construct
			}
			inClass = rest[0] != ']'
		case rest[0] == '[':
			inClass = true
			i += len(classStart().FindString(rest)) - 1
		default:
			if construct := unsupportedGroup(rest); construct != "" {
				return construct
			}
		}
	}
	return ""
}

// classStart is the beginning of a character class; a bracket at its start is a member of it.
var classStart = lazyregexp.New(`^\[\^?\]?`)

var (
	backReference = lazyregexp.New(`^\\(?:[1-9]|k<\w*>)`)
	otherEscape   = lazyregexp.New(`^\\(?:[GHRXZh]|u[0-9a-fA-F]{4}|N\{\w*\}|b\{\w*\})`)
	possessive    = lazyregexp.New(`^(?:[*+?]|\{\d+(?:,\d*)?\})\+`)
)

func unsupportedEscape(rest string, inClass bool) string {
	if found := backReference().FindString(rest); found != "" && !inClass {
		return fmt.Sprintf("a back-reference (%s)", found)
	}
	if found := otherEscape().FindString(rest); found != "" {
		return "the escape " + found
	}
	return ""
}

func unsupportedInClass(rest string) string {
	switch {
	case strings.HasPrefix(rest, "&&"):
		return "an intersection of character classes (&&)"
	case rest[0] == '[' && !strings.HasPrefix(rest, "[:"):
		return `a character class inside another one (write \[ for a bracket)`
	}
	return ""
}

func unsupportedGroup(rest string) string {
	for _, group := range []struct{ prefix, name string }{
		{"(?=", "a look-ahead"},
		{"(?!", "a look-ahead"},
		{"(?<=", "a look-behind"},
		{"(?<!", "a look-behind"},
		{"(?>", "an atomic group"},
	} {
		if strings.HasPrefix(rest, group.prefix) {
			return group.name + " " + group.prefix + "…)"
		}
	}
	if found := possessive().FindString(rest); found != "" {
		return fmt.Sprintf("a possessive quantifier (%s)", found)
	}
	return ""
}
