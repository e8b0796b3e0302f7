package redact

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escape is a way to write characters as sequences that begin with bytes of their own.
type escape struct {
	leads string
	// decode decodes the sequence at the beginning of b, which begins with a lead, and appends the result to dst. n is
	// the number of bytes of b that were decoded, 0 when more bytes are needed. A lead byte without a valid sequence is
	// appended unchanged. whole is true if no bytes follow b; n is then never 0.
	decode func(dst, b []byte, whole bool) (decoded []byte, n int)
	last   bool // what it decodes to is not decoded again; it only matters within a secret
}

const escapeKinds = 4

func allEscapes() [escapeKinds]escape {
	return [escapeKinds]escape{
		{leads: "\\", decode: decodeBackslash},
		{leads: "%", decode: decodePercent},
		{leads: "&", decode: decodeEntity},
		{leads: controlLeads, decode: decodeControl, last: true},
	}
}

// maxEscapes is how many escapes of the same or of different kinds may be nested. A JSON text quoted in a log line that
// is JSON has two, and a query in it three.
const maxEscapes = 3

// incompleteEscape is the result for the beginning of a sequence.
func incompleteEscape(dst, b []byte, whole bool) (decoded []byte, n int) {
	if whole {
		return append(dst, b[0]), 1
	}
	return dst, 0
}

// decodeBackslash decodes the escapes of JSON, of shells (a backslash before a punctuation mark or space) and \xHH.
func decodeBackslash(dst, b []byte, whole bool) (decoded []byte, n int) {
	if len(b) < 2 {
		return incompleteEscape(dst, b, whole)
	}
	switch c := b[1]; {
	case c == 'u':
		return decodeUnicode(dst, b, whole)
	case c == 'x':
		return decodeHex(dst, b, 2, whole)
	case strings.IndexByte("bfnrt", c) >= 0:
		return append(dst, "\b\f\n\r\t"[strings.IndexByte("bfnrt", c)]), 2
	case c >= ' ' && c < utf8.RuneSelf && c != '\x7f' && !isAlphanumeric(c):
		return append(dst, c), 2
	}
	return append(dst, b[0]), 1
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// decodeUnicode decodes \uHHHH, or two of them that are a surrogate pair.
func decodeUnicode(dst, b []byte, whole bool) (decoded []byte, n int) {
	const size = len(`\u0000`)
	unit, ok, more := hexDigits(b, 2, size)
	switch {
	case more:
		return incompleteEscape(dst, b, whole)
	case !ok:
		return append(dst, b[0]), 1
	case !utf16.IsSurrogate(unit):
		return utf8.AppendRune(dst, unit), size
	}
	rest := b[size:]
	if len(rest) < 2 && strings.HasPrefix(`\u`, string(rest)) && !whole {
		return dst, 0
	}
	if len(rest) >= 2 && string(rest[:2]) == `\u` {
		second, ok, more := hexDigits(rest, 2, size)
		if more && !whole {
			return dst, 0
		}
		if c := utf16.DecodeRune(unit, second); ok && c != utf8.RuneError {
			return utf8.AppendRune(dst, c), 2 * size
		}
	}
	return utf8.AppendRune(dst, utf8.RuneError), size
}

// hexDigits returns the number whose hexadecimal digits are b[from:to]. more is true if b ends before to and contains
// only digits from from on.
func hexDigits(b []byte, from, to int) (number rune, ok, more bool) {
	for _, c := range b[min(from, len(b)):min(to, len(b))] {
		digit := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if digit < 0 || c < '0' {
			return 0, false, false
		}
		number = number<<4 | rune(digit)
	}
	return number, len(b) >= to, len(b) < to
}

// decodeHex decodes a byte of two digits at b[from].
func decodeHex(dst, b []byte, from int, whole bool) (decoded []byte, n int) {
	number, ok, more := hexDigits(b, from, from+2)
	switch {
	case more:
		return incompleteEscape(dst, b, whole)
	case !ok:
		return append(dst, b[0]), 1
	}
	return append(dst, byte(number)), from + 2
}

// decodePercent decodes %HH.
func decodePercent(dst, b []byte, whole bool) (decoded []byte, n int) {
	return decodeHex(dst, b, 1, whole)
}

// decodeEntity decodes character references of HTML, such as &amp; and &#x27;.
func decodeEntity(dst, b []byte, whole bool) (decoded []byte, n int) {
	const longest = len("&CounterClockwiseContourIntegral;")
	for i, c := range b[1:] {
		switch {
		case c == ';':
			if text := html.UnescapeString(string(b[:i+2])); text != string(b[:i+2]) {
				return append(dst, text...), i + 2
			}
			return append(dst, b[0]), 1
		case c != '#' && !isAlphanumeric(c) || i+2 >= longest:
			return append(dst, b[0]), 1
		}
	}
	return incompleteEscape(dst, b, whole)
}
