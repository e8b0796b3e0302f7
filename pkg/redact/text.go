package redact

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// disguise is what was done to a text before we see it: JSON escapes and percent-encoding, in some order and up to three
// times. Its bits, after the leading 1, are the layers in the order of undoing them, 0 for JSON.
//
// Three, because a JSON text quoted in a log line that is JSON has two, and a query inside it a third.
type disguise uint8

const (
	bare         disguise = 0b1
	lastDisguise disguise = 0b1111
)

// longestRun is how many backslashes one character can take, each layer doubling them.
const longestRun = 8

// What stands after a backslash in JSON for the characters that have a letter.
const (
	escapeLetters = "bfnrt"
	escapedChars  = "\b\f\n\r\t"
)

// text is some text, or the beginning of one.
type text struct {
	b     []byte
	whole bool // nothing follows
}

// read returns the character at b[i] with a disguise taken off, and where the next one starts. cut: b ends inside it. What
// only looks like an escape is read as it stands.
func (t text) read(i int, d disguise) (c rune, next int, cut bool) {
	if d == bare {
		return t.literal(i)
	}
	outer, json := d>>1, d&1 == 0
	c, next, cut = t.read(i, outer)
	switch {
	case cut:
		return 0, 0, true
	case json && c == '\\':
		return t.unescape(next, outer)
	case !json && c == '%':
		return t.unpercent(next, outer)
	}
	return c, next, false
}

// uncoloured returns c, which ends at i, or if c begins colour codes (ESC [ … m), the character after them: who prints
// without colours would put together again what they divide.
func (t text) uncoloured(c rune, i int, d disguise) (char rune, next int, cut bool) {
	for c == '\x1b' {
		end := i
		for sep := "["; ; sep = "0123456789;:" {
			code, after, cut := t.read(end, d)
			if cut {
				return 0, 0, true
			}
			if end = after; code == 'm' && sep != "[" {
				break
			}
			if !strings.ContainsRune(sep, code) {
				return c, i, false
			}
		}
		if c, i, cut = t.read(end, d); cut {
			return 0, 0, true
		}
	}
	return c, i, false
}

func (t text) literal(i int) (c rune, next int, cut bool) {
	rest := t.b[i:]
	if len(rest) > 0 && rest[0] < utf8.RuneSelf {
		return rune(rest[0]), i + 1, false
	}
	if len(rest) == 0 || !t.whole && !utf8.FullRune(rest) {
		return 0, 0, true
	}
	c, size := utf8.DecodeRune(rest)
	if c == utf8.RuneError && size == 1 {
		c = invalid(rest[0])
	}
	return c, i + size, false
}

// unescape reads what follows a backslash in a JSON string.
func (t text) unescape(i int, outer disguise) (c rune, next int, cut bool) {
	letter, next, cut := t.read(i, outer)
	if cut {
		return 0, 0, true
	}
	switch letter {
	case '"', '\\', '/':
		return letter, next, false
	case 'u':
		return t.codePoint(i, next, outer)
	}
	if k := strings.IndexRune(escapeLetters, letter); k >= 0 {
		return rune(escapedChars[k]), next, false
	}
	return '\\', i, false
}

// codePoint reads the digits of \uXXXX, which start at i, and the second half of a surrogate pair. When they are none, the
// backslash stands for itself and start is what follows it.
func (t text) codePoint(start, i int, outer disguise) (c rune, next int, cut bool) {
	c, next, ok, cut := t.hex(i, 4, outer)
	if cut {
		return 0, 0, true
	}
	if !ok {
		return '\\', start, false
	}
	if !utf16.IsSurrogate(c) {
		return c, next, false
	}
	after := next
	for _, want := range `\u` {
		var got rune
		if got, after, cut = t.read(after, outer); cut {
			return 0, 0, true
		} else if got != want {
			return utf8.RuneError, next, false
		}
	}
	low, after, ok, cut := t.hex(after, 4, outer)
	if cut {
		return 0, 0, true
	}
	if pair := utf16.DecodeRune(c, low); ok && pair != utf8.RuneError {
		return pair, after, false
	}
	return utf8.RuneError, next, false
}

// unpercent reads what follows a percent sign: one byte, and the rest of its character.
func (t text) unpercent(i int, outer disguise) (c rune, next int, cut bool) {
	b, first, ok, cut := t.hex(i, 2, outer)
	if cut {
		return 0, 0, true
	}
	if !ok {
		return '%', i, false
	}
	char, end := []byte{byte(b)}, first
	for !utf8.FullRune(char) {
		sign, digits, cut := t.read(end, outer)
		if cut {
			return 0, 0, true
		}
		if sign != '%' {
			break
		}
		b, after, ok, cut := t.hex(digits, 2, outer)
		if cut {
			return 0, 0, true
		}
		if !ok {
			break
		}
		char, end = append(char, byte(b)), after
	}
	c, size := utf8.DecodeRune(char)
	if c == utf8.RuneError && size == 1 {
		return invalid(char[0]), first, false
	}
	return c, end, false
}

// hex reads n hexadecimal digits.
func (t text) hex(i, n int, outer disguise) (value rune, next int, ok, cut bool) {
	for range n {
		var c rune
		if c, i, cut = t.read(i, outer); cut {
			return 0, 0, false, true
		}
		digit := hexDigit(c)
		if digit < 0 {
			return 0, 0, false, false
		}
		value = value<<4 | digit
	}
	return value, i, true, false
}

// hexDigit returns the value of a hexadecimal digit, -1 for anything else.
func hexDigit(c rune) rune {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return -1
}
