package redact

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

const (
	spaces = " \t\n\v\f\r"
	// controlLeads are the bytes with which white space and characters that readers do not see begin.
	controlLeads = spaces + "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c" +
		"\x1d\x1e\x1f\x7f\xc2\xcd\xd8\xe1\xe2\xe3\xef\xf0\xf3"
	// maxControl is the length of the longest sequence, and of the longest white space, that is read as one.
	maxControl = 256
)

// decodeControl removes what a terminal and the reports do not show: escape sequences, control characters and characters
// without width. Text on both sides of them is joined, as by a reader that removes them. White space becomes one space, as
// where lines are joined.
func decodeControl(dst, b []byte, whole bool) (decoded []byte, n int) {
	if strings.IndexByte(spaces, b[0]) < 0 {
		n, more := hiddenLength(b)
		switch {
		case more && !whole:
			return dst, 0
		case n == 0:
			return append(dst, b[0]), 1
		}
		return dst, n
	}
	for n < len(b) && n < maxControl {
		length, more := hiddenLength(b[n:])
		switch {
		case strings.IndexByte(spaces, b[n]) >= 0:
			n++
		case more && !whole:
			return dst, 0
		case length == 0:
			return append(dst, ' '), n
		default:
			n += length
		}
	}
	if n < maxControl && !whole {
		return dst, 0
	}
	return append(dst, ' '), n
}

// visibleText returns what readers see of a text, on one line.
func visibleText(text string) string {
	var out []byte
	for rest := []byte(text); len(rest) > 0; {
		var n int
		out, n = decodeControl(out, rest, true)
		rest = rest[n:]
	}
	return strings.TrimSpace(string(out))
}

// hiddenLength returns the length of the sequence or character at the beginning of b that readers do not see, 0 for
// none. more is true if b may be the beginning of one that is longer.
func hiddenLength(b []byte) (n int, more bool) {
	if !utf8.FullRune(b) {
		return 0, true
	}
	c, size := utf8.DecodeRune(b)
	switch {
	case c == '\x1b' && len(b) < 2:
		return 1, true
	case c == '\x1b':
		return sequenceLength(b[1], b)
	case c >= 0x80 && c < 0xa0:
		return sequenceLength(b[1]-0x40, b)
	case c < ' ', c == '\x7f', isInvisible(c):
		return size, false
	}
	return 0, false
}

// sequenceLength returns the length of the escape sequence of a kind at the beginning of b, whose introducer has two
// bytes. Of one without an end it is that of the introducer.
func sequenceLength(kind byte, b []byte) (n int, more bool) {
	const introducer = 2
	rest := b[introducer:min(len(b), maxControl)]
	var end int
	switch {
	case kind == '[':
		end = bytes.IndexFunc(rest, func(c rune) bool { return c < ' ' || c > '?' })
		if end >= 0 && rest[end] >= '@' && rest[end] <= '~' {
			return introducer + end + 1, false
		}
	case strings.IndexByte("]PX^_", kind) >= 0:
		if end = stringEnd(rest); end >= 0 {
			return introducer + end, false
		}
	case kind >= ' ' && kind <= '/':
		end = bytes.IndexFunc(rest, func(c rune) bool { return c < ' ' || c > '/' })
		if end >= 0 {
			return introducer + end + 1, false
		}
	case kind < ' ' || kind > '~':
		return 1, false
	}
	return introducer, end < 0 && len(b) < maxControl
}

// stringEnd returns where the first terminator in b ends, -1 for none.
func stringEnd(b []byte) int {
	end := -1
	for _, terminator := range []string{"\a", "\x1b\\", "\u009c"} {
		if i := bytes.Index(b, []byte(terminator)); i >= 0 && (end < 0 || i+len(terminator) < end) {
			end = i + len(terminator)
		}
	}
	return end
}

// isInvisible reports whether c has no width, or changes the order of the characters around it.
func isInvisible(c rune) bool {
	switch {
	case c == 0xad, c == 0x34f, c == 0x61c, c == 0x115f, c == 0x1160, c == 0x180e, c == 0x3164, c == 0xfeff:
		return true
	case 0x200b <= c && c <= 0x200f, 0x202a <= c && c <= 0x202e, 0x2060 <= c && c <= 0x206f, 0xfe00 <= c && c <= 0xfe0f:
		return true
	}
	return 0xfff9 <= c && c <= 0xfffb || 0xe0000 <= c && c <= 0xe01ef
}
