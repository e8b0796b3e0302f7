package engine

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// encodingOps returns the operations that convert between bytes and text. Lone surrogates in a text have already been
// replaced with U+FFFD.
func encodingOps() (map[string]syncOp, map[string]asyncOp) {
	text := func(decode func([]byte) string) syncOp {
		return func(_ *Engine, args []any) (any, error) { return decode(arg[[]byte](args, 0)), nil }
	}
	bytes := func(encode func(string) []byte) syncOp {
		return func(_ *Engine, args []any) (any, error) { return encode(arg[string](args, 0)), nil }
	}
	return map[string]syncOp{
		"utf8.encode":      bytes(func(s string) []byte { return []byte(s) }),
		"utf8.length":      func(_ *Engine, args []any) (any, error) { return float64(len(arg[string](args, 0))), nil },
		"utf8.decode":      text(decodeUTF8),
		"text.decode":      decodeText,
		"latin1.encode":    bytes(encodeLatin1),
		"latin1.decode":    text(decodeLatin1),
		"base64.encode":    text(base64.StdEncoding.EncodeToString),
		"base64url.encode": text(base64.RawURLEncoding.EncodeToString),
		"base64.decode":    bytes(decodeBase64),
		"hex.encode":       text(hex.EncodeToString),
		"hex.decode":       bytes(decodeHex),
	}, nil
}

// decodeText implements text.decode(encoding, bytes, last), one step of a TextDecoder. It returns [text, rest, valid]:
// rest is the number of bytes at the end that begin a character and must be passed again with the next bytes.
func decodeText(_ *Engine, args []any) (any, error) {
	data, last := arg[[]byte](args, 1), arg[bool](args, 2)
	whole, valid := len(data), true
	var text string
	switch arg[string](args, 0) {
	case "utf-16le":
		text, whole, valid = decodeUTF16(data, last, false)
	case "utf-16be":
		text, whole, valid = decodeUTF16(data, last, true)
	case "windows-1252":
		text = decodeWindows1252(data)
	default:
		if !last {
			whole -= incompleteSuffixUTF8(data)
		}
		valid = utf8.Valid(data[:whole])
		text = decodeUTF8(data[:whole])
	}
	return []any{text, float64(len(data) - whole), valid}, nil
}

// decodeUTF8 decodes as the Encoding Standard requires: each maximal prefix of a valid character becomes one U+FFFD,
// where Go's conversion has one for each byte.
func decodeUTF8(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	var b strings.Builder
	b.Grow(len(data) + utf8.UTFMax)
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			size = max(1, validPrefixUTF8(data))
		}
		b.WriteRune(r)
		data = data[size:]
	}
	return b.String()
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
func decodeUTF16(data []byte, last, bigEndian bool) (text string, whole int, valid bool) {
	units := make([]uint16, 0, len(data)/2+1)
	for i := 0; i+1 < len(data); i += 2 {
		unit := uint16(data[i]) | uint16(data[i+1])<<8
		if bigEndian {
			unit = unit>>8 | unit<<8
		}
		units = append(units, unit)
	}
	odd := len(data)%2 != 0
	if n := len(units); !last && n > 0 && isHighSurrogate(units[n-1]) {
		units = units[:n-1]
	}
	runes := utf16.Decode(units)
	valid = true
	for i, at := 0, 0; i < len(runes); i++ {
		if runes[i] == utf8.RuneError && units[at] != utf8.RuneError {
			valid = false
		}
		at += utf16.RuneLen(runes[i])
	}
	if !last {
		return string(runes), 2 * len(units), valid
	}
	if odd && (len(runes) == 0 || !isHighSurrogate(units[len(units)-1])) {
		runes = append(runes, utf8.RuneError)
	}
	return string(runes), len(data), valid && !odd
}

func isHighSurrogate(unit uint16) bool { return unit >= 0xD800 && unit < 0xDC00 }

// windows1252 has the characters of bytes 0x80 to 0x9F; every other byte is the character with the same number.
const windows1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

func decodeWindows1252(data []byte) string {
	table := []rune(windows1252)
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
		if b >= 0x80 && b < 0xA0 {
			runes[i] = table[b-0x80]
		}
	}
	return string(runes)
}

// decodeLatin1 decodes each byte as the character with the same number, as Buffer and HTTP headers do.
func decodeLatin1(data []byte) string {
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
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
