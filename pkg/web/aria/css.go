package aria

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// generatedText returns the text of ::before or ::after. n may be nil.
func (n *node) generatedText() string {
	if n == nil || n.visibility == "hidden" || n.display == "none" {
		return ""
	}
	text, ok := n.parent.cssText(n.content, true)
	if ok && n.display != "inline" {
		return " " + text + " "
	}
	return text
}

// ownContent returns the text that replaces the content of an element.
func (n *node) ownContent() (string, bool) {
	if n.visibility == "hidden" || n.display == "none" {
		return "", false
	}
	return n.cssText(n.content, false)
}

// cssText parses the content property: strings and attributes. Those after a slash are the alternative text. Without a
// slash, only a pseudo-element has a text. ok is false if the property contains anything else.
func (n *node) cssText(content string, pseudo bool) (string, bool) {
	if content == "" || content == "none" || content == "normal" {
		return "", false
	}
	if _, alternative, ok := cutSlash(content); ok {
		content = alternative
	} else if !pseudo {
		return "", false
	}
	var b strings.Builder
	for content = trim(content); content != ""; content = trim(content) {
		if content[0] == '"' || content[0] == '\'' {
			text, rest := cssString(content)
			b.WriteString(text)
			content = rest
			continue
		}
		inside, ok := strings.CutPrefix(content, "attr(")
		name, rest, closed := strings.Cut(inside, ")")
		if name = trim(name); !ok || !closed || name == "" || strings.ContainsAny(name, ", \t\n") {
			return "", false
		}
		b.WriteString(n.attr(name))
		content = rest
	}
	return b.String(), true
}

// cutSlash splits s at the first slash that is not in a quoted string. Browsers quote the URLs in computed values.
func cutSlash(s string) (before, after string, found bool) {
	for i := 0; i < len(s); {
		switch s[i] {
		case '/':
			return s[:i], s[i+1:], true
		case '"', '\'':
			_, rest := cssString(s[i:])
			i = len(s) - len(rest)
		default:
			i++
		}
	}
	return s, "", false
}

// cssString parses the quoted string at the start of s, and returns the rest of s.
func cssString(s string) (text, rest string) {
	quote := s[0]
	var b strings.Builder
	for i := 1; i < len(s); {
		switch c := s[i]; c {
		case quote:
			return b.String(), s[i+1:]
		case '\\':
			r, size := cssEscape(s[i+1:])
			b.WriteString(r)
			i += 1 + size
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), ""
}

// cssEscape parses an escape after its backslash: up to six hexadecimal digits and a space, or a character.
func cssEscape(s string) (text string, size int) {
	for size < len(s) && size < 6 && strings.IndexByte("0123456789abcdefABCDEF", s[size]) >= 0 {
		size++
	}
	if size == 0 {
		_, size = utf8.DecodeRuneInString(s)
		return s[:size], size
	}
	code, _ := strconv.ParseInt(s[:size], 16, 32)
	if size < len(s) && s[size] == ' ' {
		size++
	}
	return string(rune(code)), size
}
