package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MinLength is the number of characters from which a value is redacted. Shorter ones are part of too many other
	// words.
	MinLength = 4
	// minLine is the length in bytes from which a line of a value with several is redacted on its own.
	minLine = 12
	// minCase is the length in bytes from which a value is also found in upper and in lower case, and with capitals, and
	// from which its beginning is found. A shorter one may well be another word then.
	minCase = 8
	// maxBeginning is the length in bytes up to which the beginning of a value is found where a message was cut.
	maxBeginning = 256
	// minEmbedded is the length in bytes from which a value is found within a longer base64 text: 48 bits do not match
	// by chance.
	minEmbedded = 6
	// maxShared is the length in bytes up to which the digit that a base64 text shares with the byte before it is
	// redacted too.
	maxShared = 64
)

// encodings returns the texts under which a value is looked for, besides the escapes that a scanner decodes: the value,
// its long lines, and its shell-quoted, hexadecimal and base64 forms.
func encodings(value string) []string {
	lf := strings.ReplaceAll(value, "\r\n", "\n")
	texts := distinctTexts(value, lf, strings.ReplaceAll(lf, "\n", "\r\n"))
	var out []string
	for _, text := range texts {
		digits := hex.EncodeToString([]byte(text))
		out = append(out, digits, strings.ToUpper(digits))
		for _, inner := range distinctTexts(text, quoteJSON(text, false), quoteJSON(text, true)) {
			out = append(out, base64s(inner)...)
		}
	}
	if len(value) >= minCase {
		texts = distinctTexts(append(texts, strings.ToUpper(value), strings.ToLower(value), withCapital(value), withCapitals(value))...)
	}
	for _, text := range texts {
		out = append(out, beginnings(text)...)
		out = append(out, text, strings.ReplaceAll(text, " ", "+"), replaceInvalid(text),
			strings.ReplaceAll(text, `'`, `'\''`), strings.ReplaceAll(text, `'`, `'"'"'`))
	}
	if seen := visibleText(value); utf8.RuneCountInString(seen) >= MinLength {
		out = append(out, seen)
	}
	return append(out, longLines(lf)...)
}

// beginnings returns how a value looks that a message has cut.
func beginnings(value string) (out []string) {
	for n := range value[:min(maxBeginning, len(value))] {
		if n >= minCase {
			out = append(out, value[:n]+"…")
		}
	}
	return out
}

// withCapital returns a value that begins with a capital, as apps write names.
func withCapital(value string) string {
	first, n := utf8.DecodeRuneInString(value)
	return string(unicode.ToUpper(first)) + value[n:]
}

// withCapitals returns a value each word of which begins with a capital.
func withCapitals(value string) string {
	within := false
	return strings.Map(func(r rune) rune {
		first := !within
		if within = unicode.IsLetter(r) || unicode.IsDigit(r); first {
			return unicode.ToUpper(r)
		}
		return r
	}, value)
}

func distinctTexts(texts ...string) []string {
	var out []string
	for _, text := range texts {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// longLines returns the lines of a value that has several, without the white space around them. The first and the last
// line of a key in PEM form are not secret.
func longLines(value string) []string {
	var out []string
	for line := range strings.Lines(value) {
		line = strings.TrimSpace(line)
		if len(line) >= minLine && !strings.HasPrefix(line, "-----BEGIN ") && !strings.HasPrefix(line, "-----END ") {
			out = append(out, line)
		}
	}
	return out
}

// replaceInvalid replaces each byte that is not UTF-8 by U+FFFD, as encoders do.
func replaceInvalid(s string) string { return string([]rune(s)) }

// quoteJSON returns s as it stands between the quotation marks of a JSON string.
func quoteJSON(s string, escapeHTML bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	_ = e.Encode(s) // a string cannot fail
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}

// base64s returns what a text looks like in base64, for each number of bytes (mod 3) in front of it, with either
// alphabet and with or without padding. A short text is only looked for as a base64 text of its own.
func base64s(text string) []string {
	var out []string
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if len(text) < minEmbedded {
			out = append(out, paddings(e.EncodeToString([]byte(text)), len(text))...)
			continue
		}
		for before := range 3 {
			out = append(out, base64At(e, before, text)...)
		}
	}
	return out
}

// base64At returns what a text looks like in base64 after some bytes. A digit that the text shares with the byte before
// or after it takes each of its possible values. For a long text the digit shared with the byte before it is left out: the
// digit shows at most four bits of the text.
func base64At(e *base64.Encoding, before int, text string) []string {
	all := append(make([]byte, before), text...)
	digits := e.EncodeToString(all)[(8*before+5)/6:] // those that the text begins
	ends := paddings(digits, len(all))
	if shared := len(all) % 3; shared > 0 {
		for _, next := range sharedBytes() {
			last := e.EncodeToString(append(all[len(all)-shared:len(all):len(all)], next))
			ends = append(ends, digits[:len(digits)-1]+last[shared:shared+1])
		}
	}
	if before == 0 || len(text) > maxShared {
		return ends
	}
	var out []string
	for _, previous := range sharedBytes() {
		all[before-1] = previous >> 4
		first := e.EncodeToString(all[:before+1])[before : before+1]
		for _, end := range ends {
			out = append(out, first+end)
		}
	}
	return out
}

// sharedBytes returns bytes with all values of the upper four bits.
func sharedBytes() []byte {
	var out []byte
	for b := 0; b < 256; b += 1 << 4 {
		out = append(out, byte(b))
	}
	return out
}

// paddings returns base64 digits of so many bytes without and with padding.
func paddings(digits string, size int) []string {
	out := []string{digits}
	for range (3 - size%3) % 3 {
		digits += "="
		out = append(out, digits)
	}
	return out
}
