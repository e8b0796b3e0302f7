package typings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// lineWidth is the length at which generated text wraps.
const lineWidth = 100

// typeName returns an identifier in upper camel case made from the ASCII letters and digits of a text.
func typeName(s string) string {
	var b strings.Builder
	upper := true
	for _, r := range s {
		switch isLetter := r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)); {
		case !isLetter:
			upper = true
		case upper:
			b.WriteRune(unicode.ToUpper(r))
			upper = false
		default:
			b.WriteRune(r)
		}
	}
	name := b.String()
	if name == "" || unicode.IsDigit(rune(name[0])) {
		name = "T" + name
	}
	return name
}

var identifier = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// isHidden reports whether a rune is not shown or changes how others are shown, such as those that reverse text. A
// comment or a name that contains it could look like other code.
func isHidden(r rune) bool {
	const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d' // parts of words and emoji
	return r == unicode.ReplacementChar || r != zeroWidthNonJoiner && r != zeroWidthJoiner &&
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}

// quote returns a literal in double quotes. escape formats a rune that must not be written as it is.
func quote(s string, escape func(r rune) string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case isHidden(r):
			b.WriteString(escape(r))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func quoteTypeScript(s string) string {
	return quote(s, func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) })
}

func quotePython(s string) string {
	return quote(s, func(r rune) string { return fmt.Sprintf(`\U%08x`, r) })
}

// docLines returns a text as lines for a comment, without runes that are hidden and without empty lines at its ends.
func docLines(s string) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), "\n") {
		line = strings.Map(func(r rune) rune {
			if isHidden(r) {
				return ' '
			}
			return r
		}, line)
		lines = append(lines, wrap(strings.TrimRightFunc(line, unicode.IsSpace))...)
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return slices.Clip(lines)
}

// wrap breaks a line at spaces.
func wrap(line string) []string {
	var lines []string
	for len(line) > lineWidth {
		at := strings.LastIndexByte(line[:lineWidth], ' ')
		if strings.TrimSpace(line[:max(at, 0)]) == "" {
			break
		}
		lines, line = append(lines, line[:at]), line[at+1:]
	}
	return append(lines, line)
}

// literalText returns a JSON value that is not a list or object as a literal of another language.
func literalText(value string, quote func(string) string) string {
	var s string
	if json.Unmarshal([]byte(value), &s) == nil {
		return quote(s)
	}
	return value
}
