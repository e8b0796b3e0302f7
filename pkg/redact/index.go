package redact

import (
	"math"
	"strings"
	"unicode/utf8"
)

// index tells which patterns a place can belong to by its first byte, so that most places are never looked at twice.
type index [256]uint64

// add notes that a pattern can have one of the characters in this place.
func (x *index) add(bit uint64, set charset) {
	for _, c := range set {
		x[lead(c)] |= bit
	}
}

// addAny notes that a pattern can have anything in this place.
func (x *index) addAny(bit uint64) {
	for b := range x {
		x[b] |= bit
	}
}

// at returns the bits of the patterns that can have what b starts with; it may name too many.
func (x *index) at(b []byte) uint64 {
	switch b[0] {
	case '\\':
		return x.escape(b)
	case '%':
		return x.percent(b)
	}
	return x[b[0]]
}

// escape is at for a backslash, which may stand for itself or belong to an escape.
func (x *index) escape(b []byte) uint64 {
	run := 1
	for run < min(len(b), longestRun) && b[run] == '\\' {
		run++
	}
	if run == len(b) {
		return math.MaxUint64
	}
	mask := x['\\']
	switch letter := b[run]; letter {
	case 'u', '%':
		return math.MaxUint64
	case '"', '/':
		mask |= x[letter]
	default:
		if k := strings.IndexByte(escapeLetters, letter); k >= 0 {
			mask |= x[escapedChars[k]]
		}
	}
	return mask
}

// percent is at for a percent sign.
func (x *index) percent(b []byte) uint64 {
	if len(b) < len("%00") || strings.ContainsAny(string(b[1:3]), `\%`) {
		return math.MaxUint64
	}
	high, low := hexDigit(rune(b[1])), hexDigit(rune(b[2]))
	if high < 0 || low < 0 {
		return x['%']
	}
	c := byte(high<<4 | low)
	if c == '\\' || c == '%' || c >= utf8.RuneSelf {
		return math.MaxUint64
	}
	return x['%'] | x[c]
}
