package aria

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// isSpace reports whether \s of JavaScript matches r.
func isSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r == ' ', r == '\u00a0', r == '\u1680', r >= '\u2000' && r <= '\u200a':
		return true
	case r == '\u2028', r == '\u2029', r == '\u202f', r == '\u205f', r == '\u3000', r == '\ufeff':
		return true
	}
	return false
}

func trim(s string) string { return strings.TrimFunc(s, isSpace) }

// isInvisible reports whether nobody sees r: a zero-width space, a soft hyphen, or a mark of the direction of a text.
func isInvisible(r rune) bool {
	switch {
	case r == '\u200b', r == '\u00ad', r == '\u200e', r == '\u200f', r >= '\u202a' && r <= '\u202e':
		return true
	}
	return r >= '\u2066' && r <= '\u2069'
}

// normalize removes invisible characters, and replaces each run of spaces by one.
func normalize(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		switch {
		case isInvisible(r):
		case isSpace(r):
			gap = true
		default:
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain reports whether normalize returns s unchanged, as it does for most texts.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == ' ' && (i == 0 || i == len(s)-1 || s[i+1] == ' ') {
			return false
		}
	}
	return true
}

// isNumber reports whether Number(s) of JavaScript is a number.
func isNumber(s string) bool {
	s = trim(s)
	if s == "" {
		return true
	}
	if len(s) > 2 && s[0] == '0' {
		for prefix, base := range map[string]int{"0x": 16, "0o": 8, "0b": 2} {
			if digits, ok := strings.CutPrefix(strings.ToLower(s), prefix); ok {
				return allDigits(digits, base)
			}
		}
	}
	unsigned := strings.TrimLeft(s, "+-")
	if len(s)-len(unsigned) > 1 {
		return false
	}
	if unsigned == "Infinity" {
		return true
	}
	if unsigned == "" || strings.Trim(unsigned, "0123456789.eE+-") != "" {
		return false
	}
	_, err := strconv.ParseFloat(unsigned, 64)
	return err == nil || strings.Contains(err.Error(), strconv.ErrRange.Error())
}

func allDigits(s string, base int) bool {
	for _, r := range s {
		if _, err := strconv.ParseUint(string(r), base, 8); err != nil {
			return false
		}
	}
	return s != ""
}

// leadingInt returns the integer at the start of s, 0 without one.
func leadingInt(s string) int {
	s = strings.TrimLeftFunc(s, isHTMLSpace)
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(s[:end])
	return n
}

// level returns the heading level of an aria-level attribute, 0 if it has none.
func level(s string) int {
	n, err := strconv.ParseFloat(trim(s), 64)
	if err != nil || n < 1 || n > 1<<31 || n != float64(int(n)) {
		return 0
	}
	return int(n)
}

// utf16Len returns the length of s in UTF-16 units, as in JavaScript.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
