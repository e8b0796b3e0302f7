package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// pattern is one form of a secret, or what all capabilities look like, character by character, whatever way each is spelt.
type pattern struct {
	replacement string
	chars       []charset
	pads        int // this many '=' may follow
}

// charset holds the characters that fit in one place. Bytes that are not UTF-8 are characters of their own, see invalid.
type charset []rune

func invalid(b byte) rune { return utf8.MaxRune + 1 + rune(b) }

// lead returns the first byte of c.
func lead(c rune) byte {
	if c > utf8.MaxRune {
		return byte(c - utf8.MaxRune - 1)
	}
	return string(c)[0]
}

func plain(replacement, value string) pattern {
	p := pattern{replacement: replacement}
	for i, c := range value {
		set := charset{c}
		switch {
		case c == ' ':
			set = charset{' ', '+'}
		case c == utf8.RuneError && value[i] != "\uFFFD"[0]:
			set = charset{invalid(value[i]), c} // encoders write U+FFFD for it
		}
		p.chars = append(p.chars, set)
	}
	return p
}

// capabilities is the pattern of them all.
func capabilities() pattern {
	p := plain("{{capability}}", tool.CapabilityPrefix)
	for range tool.CapabilityDigits {
		p.chars = append(p.chars, charset("0123456789abcdef"))
	}
	return p
}

// minEmbedded is the length from which a secret is found inside longer base64 texts: 48 fixed bits do not match by chance.
const minEmbedded = 6

// base64s returns what a secret looks like in base64, one pattern for each number of bytes (mod 3) in front of it.
func base64s(replacement, value string) []pattern {
	embedded := len(value) >= minEmbedded
	patterns := []pattern{base64At(0, embedded, replacement, value)}
	if embedded {
		patterns = append(patterns, base64At(1, true, replacement, value), base64At(2, true, replacement, value))
	}
	return patterns
}

// base64At is the pattern of value with shift bytes in front. The digits at its ends may share bits with neighbours; if
// embedded, those bits are free.
func base64At(shift int, embedded bool, replacement, value string) pattern {
	digits := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), value...))
	p := pattern{replacement: replacement, pads: (3 - (shift+len(value))%3) % 3}
	for i := shift; i < len(digits); i++ { // as many digits as bytes in front say nothing of the secret
		fixed := 0
		for bit := range 6 {
			pos := 6*i + bit
			if !embedded || pos >= 8*shift && pos < 8*(shift+len(value)) {
				fixed |= 1 << (5 - bit)
			}
		}
		p.chars = append(p.chars, digitsLike(digits[i], fixed))
	}
	return p
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// digitsLike returns the digits of both alphabets that have the same fixed bits as digit.
func digitsLike(digit byte, fixed int) charset {
	want := slices.Index([]byte(alphabet), digit) & fixed
	var set charset
	for value, c := range alphabet {
		if value&fixed != want {
			continue
		}
		set = append(set, c)
		switch c {
		case '+':
			set = append(set, '-')
		case '/':
			set = append(set, '_')
		}
	}
	return set
}

// match returns the end of the longest spelling of p at t[i], 0 when there is none. open: with more text it may match,
// or match more.
func (p *pattern) match(t text, i int) (end int, open bool) {
	for d := bare; d <= lastDisguise; d++ {
		stop, ok, more := p.spelt(t, i, d)
		if more {
			return 0, true
		}
		if ok {
			end = max(end, stop)
		}
		if d == bare && !bytes.ContainsAny(t.b[i:min(stop+1, len(t.b))], `\%`) {
			break // it reads the same in every disguise
		}
	}
	return end, false
}

// spelt reads p in one disguise and returns where it stopped reading, and whether that is the end of p.
func (p *pattern) spelt(t text, i int, d disguise) (stop int, ok, open bool) {
	for n, set := range p.chars {
		c, next, cut := t.read(i, d)
		if n > 0 && !cut && !slices.Contains(set, '\x1b') {
			c, next, cut = t.uncoloured(c, next, d)
		}
		if cut {
			return len(t.b), false, !t.whole
		}
		if i = next; !slices.Contains(set, c) {
			return i, false, false
		}
	}
	for range p.pads {
		c, next, cut := t.read(i, d)
		if cut && !t.whole {
			return i, false, true
		}
		if cut || c != '=' {
			break
		}
		i = next
	}
	return i, true, false
}
