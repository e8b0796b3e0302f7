package budget

import "unicode/utf8"

const (
	bytesOfObject = 340 // of a map with one entry
	bytesOfItem   = 80  // of one more entry in a map or a list, or of an empty list
)

// Decoded returns how many bytes JSON, or text with JSON in it, takes at most when it is decoded into maps and lists.
func Decoded[T ~string | ~[]byte](text T) int {
	bytes := len(text)
	for i := range len(text) {
		switch text[i] {
		case '{':
			bytes += bytesOfObject
		case '[', ',':
			bytes += bytesOfItem
		}
	}
	return bytes
}

// Encoded returns how many bytes a text takes at most when it is encoded as JSON.
func Encoded(text string) int {
	const escape = len(`\u0000`)
	bytes := 2
	for i := 0; i < len(text); {
		b, size := text[i], 1
		switch {
		case b == '"', b == '\\':
			bytes += 2
		case b < ' ', b == '<', b == '>', b == '&':
			bytes += escape
		case b < utf8.RuneSelf:
			bytes++
		default:
			var r rune
			r, size = utf8.DecodeRuneInString(text[i:])
			bytes += size
			if r == utf8.RuneError || r == '\u2028' || r == '\u2029' {
				bytes += escape - size
			}
		}
		i += size
	}
	return bytes
}

// Value returns how many bytes a value of maps, lists, texts and numbers takes at most, in memory and when it is encoded
// as JSON. It stops to count beyond limit, because values may contain another value many times.
func Value(value any, limit int) int {
	switch v := value.(type) {
	case string:
		return Encoded(v)
	case []any:
		bytes := bytesOfItem
		for _, item := range v {
			if bytes > limit {
				break
			}
			bytes += bytesOfItem + Value(item, limit-bytes)
		}
		return bytes
	case map[string]any:
		bytes := bytesOfObject
		for key, item := range v {
			if bytes > limit {
				break
			}
			bytes += bytesOfItem + Encoded(key) + Value(item, limit-bytes)
		}
		return bytes
	default:
		return bytesOfItem
	}
}
