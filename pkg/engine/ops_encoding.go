package engine

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// byteOrderMark is U+FEFF as UTF-8.
const byteOrderMark = "\xEF\xBB\xBF"

// encodingOps returns the operations that convert between bytes and text. Lone surrogates in a text have already been
// replaced with U+FFFD.
func encodingOps() (syncOps, asyncOps opTable) {
	return opTable{
		"utf8.encode":   func(c *call) (any, error) { return textBytes(arg[string](c.args, 0)), nil },
		"utf8.length":   func(c *call) (any, error) { return float64(len(arg[string](c.args, 0))), nil },
		"utf8.decode":   func(c *call) (any, error) { return c.decodeUTF8(arg[[]byte](c.args, 0)), nil },
		"text.decode":   decodeText,
		"latin1.encode": encoder(encodeLatin1),
		"latin1.decode": func(c *call) (any, error) { return c.decodeSingleBytes(arg[[]byte](c.args, 0), nil), nil },
		"base64.encode": func(c *call) (any, error) {
			return c.encodeBase64(base64.StdEncoding, arg[[]byte](c.args, 0)), nil
		},
		"base64url.encode": func(c *call) (any, error) {
			return c.encodeBase64(base64.RawURLEncoding, arg[[]byte](c.args, 0)), nil
		},
		"base64.decode": encoder(decodeBase64),
		"hex.encode": func(c *call) (any, error) {
			data := arg[[]byte](c.args, 0)
			c.reserve(2 * hex.EncodedLen(len(data)))
			return hex.EncodeToString(data), nil
		},
		"hex.decode": encoder(decodeHex),
	}, nil
}

// encoder returns an operation that makes of a text at most as many bytes.
func encoder(encode func(string) []byte) op {
	return func(c *call) (any, error) {
		text := arg[string](c.args, 0)
		c.reserve(len(text))
		return encode(text), nil
	}
}

func (c *call) encodeBase64(encoding *base64.Encoding, data []byte) string {
	c.reserve(2 * encoding.EncodedLen(len(data))) // as bytes and as a string
	return encoding.EncodeToString(data)
}

// decodeText implements text.decode(encoding, bytes, last), one step of a TextDecoder. It returns [text, rest, valid]:
// rest is the number of bytes at the end that begin a character and must be passed again with the next bytes.
func decodeText(c *call) (any, error) {
	data, last := arg[[]byte](c.args, 1), arg[bool](c.args, 2)
	whole, valid := len(data), true
	var text any
	switch arg[string](c.args, 0) {
	case "utf-16le":
		text, whole, valid = c.decodeUTF16(data, last, binary.LittleEndian)
	case "utf-16be":
		text, whole, valid = c.decodeUTF16(data, last, binary.BigEndian)
	case "windows-1252":
		text = c.decodeSingleBytes(data, []rune(windows1252))
	default:
		if !last {
			whole -= incompleteSuffixUTF8(data)
		}
		valid = utf8.Valid(data[:whole])
		text = c.decodeUTF8(data[:whole])
	}
	return []any{text, float64(len(data) - whole), valid}, nil
}

// decodeUTF8 returns binary data of the script as a result.
func (c *call) decodeUTF8(data []byte) any {
	if utf8.Valid(data) {
		return scriptText(data)
	}
	c.reserve(decodedUTF8Size(data))
	return decodeUTF8(data)
}

// decodeUTF8 decodes as the Encoding Standard requires: each maximal prefix of a valid character becomes one U+FFFD,
// where Go's conversion has one for each byte.
func decodeUTF8(data []byte) string {
	var b strings.Builder
	b.Grow(decodedUTF8Size(data))
	eachRune(data, func(r rune) { b.WriteRune(r) })
	return b.String()
}

// decodedUTF8Size returns the size of what decodeUTF8 returns.
func decodedUTF8Size(data []byte) int {
	size := 0
	eachRune(data, func(r rune) { size += utf8.RuneLen(r) })
	return size
}

func eachRune(data []byte, visit func(r rune)) {
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			size = max(1, validPrefixUTF8(data))
		}
		visit(r)
		data = data[size:]
	}
}

// incompleteSuffixUTF8 returns the number of bytes at the end of data that are the beginning of an incomplete
// character.
func incompleteSuffixUTF8(data []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		tail := data[len(data)-n:]
		if utf8.RuneStart(tail[0]) {
			if validPrefixUTF8(tail) == n && !utf8.FullRune(tail) {
				return n
			}
			return 0
		}
	}
	return 0
}

// validPrefixUTF8 returns the number of bytes at the front of data that can begin a character; 0 when there are none or
// when the character is complete.
func validPrefixUTF8(data []byte) int {
	first := data[0]
	low, high, size := byte(0x80), byte(0xBF), 0
	switch {
	case first >= 0xC2 && first <= 0xDF:
		size = 2
	case first >= 0xE0 && first <= 0xEF:
		size = 3
	case first >= 0xF0 && first <= 0xF4:
		size = 4
	}
	switch first {
	case 0xE0:
		low = 0xA0
	case 0xED:
		high = 0x9F
	case 0xF0:
		low = 0x90
	case 0xF4:
		high = 0x8F
	}
	for n := 1; n < size; n++ {
		if n >= len(data) || data[n] < low || data[n] > high {
			return n
		}
		low, high = 0x80, 0xBF
	}
	return 0
}

// decodeUTF16 returns the text and the number of bytes that it decoded. Unless this is the last step, it leaves out an
// incomplete character at the end; in the last step that becomes U+FFFD.
func (c *call) decodeUTF16(data []byte, last bool, order binary.ByteOrder) (text string, whole int, valid bool) {
	size := 0
	valid = true
	for whole < len(data) {
		r, n, ok := decodeRuneUTF16(data[whole:], order)
		if n == 0 && !last {
			break
		}
		whole += cmp.Or(n, len(data)-whole)
		size += utf8.RuneLen(r)
		valid = valid && ok
	}
	c.reserve(size)
	var b strings.Builder
	b.Grow(size)
	for at := 0; at < whole; {
		r, n, _ := decodeRuneUTF16(data[at:whole], order)
		at += cmp.Or(n, whole-at)
		b.WriteRune(r)
	}
	return b.String(), whole, valid
}

// decodeRuneUTF16 returns the first character of data and its size; U+FFFD and false for an error. The size is 0 when
// the character is incomplete.
func decodeRuneUTF16(data []byte, order binary.ByteOrder) (r rune, size int, ok bool) {
	if len(data) < 2 {
		return utf8.RuneError, 0, false
	}
	first := rune(order.Uint16(data))
	switch {
	case !utf16.IsSurrogate(first):
		return first, 2, true
	case !isHighSurrogate(first):
		return utf8.RuneError, 2, false
	case len(data) < 4:
		return utf8.RuneError, 0, false
	}
	if r = utf16.DecodeRune(first, rune(order.Uint16(data[2:]))); r == utf8.RuneError {
		return r, 2, false
	}
	return r, 4, true
}

func isHighSurrogate(unit rune) bool { return unit >= 0xD800 && unit < 0xDC00 }

// windows1252 has the characters of bytes 0x80 to 0x9F; every other byte is the character with the same number.
const windows1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

// decodeSingleBytes decodes each byte as a character: bytes from 0x80 as in table, others as the character with the
// same number.
func (c *call) decodeSingleBytes(data []byte, table []rune) any {
	decode := func(b byte) rune {
		if i := int(b) - 0x80; i >= 0 && i < len(table) {
			return table[i]
		}
		return rune(b)
	}
	size := 0
	for _, b := range data {
		size += utf8.RuneLen(decode(b))
	}
	if size == len(data) {
		return scriptText(data) // ASCII
	}
	c.reserve(size)
	var text strings.Builder
	text.Grow(size)
	for _, b := range data {
		text.WriteRune(decode(b))
	}
	return text.String()
}

// decodeLatin1 decodes each byte as the character with the same number, as HTTP headers do.
func decodeLatin1(data string) string {
	runes := make([]rune, len(data))
	for i := range len(data) {
		runes[i] = rune(data[i])
	}
	return string(runes)
}

// encodeLatin1 encodes the low byte of each UTF-16 unit, as Buffer does.
func encodeLatin1(s string) []byte {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			out = append(out, byte(high), byte(low))
			continue
		}
		out = append(out, byte(r))
	}
	return out
}

// decodeBase64 decodes as Buffer does: it accepts both alphabets, needs no padding, skips other characters, and stops
// at "=".
func decodeBase64(s string) []byte {
	kept := make([]byte, 0, len(s))
	for _, c := range []byte(s) {
		switch {
		case c == '=':
			return decodeUnpadded(kept)
		case c == '-':
			kept = append(kept, '+')
		case c == '_':
			kept = append(kept, '/')
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/':
			kept = append(kept, c)
		}
	}
	return decodeUnpadded(kept)
}

// decodeUnpadded decodes base64 in place, without a last character that does not make a byte.
func decodeUnpadded(kept []byte) []byte {
	if len(kept)%4 == 1 {
		kept = kept[:len(kept)-1]
	}
	n, _ := base64.RawStdEncoding.Decode(kept, kept)
	return kept[:n]
}

// decodeHex stops at the first character that is not a hex digit, as Buffer does.
func decodeHex(s string) []byte {
	data := []byte(s)
	n, _ := hex.Decode(data[:len(data)/2], data[:len(data)/2*2])
	return data[:n]
}
