package event

import (
	"fmt"
	"unicode/utf8"
)

// MaxText is the number of bytes that the text, the error and the progress messages of a call, and the reason of a
// trail, may have in events. The rest is left out. A session keeps the whole result of a call as an artifact.
const MaxText = 64 << 10

// Limit returns s cut to limit bytes at the start of a character, with a note of the number of bytes that were left
// out.
func Limit(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > limit-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	rest, unit := len(s)-end, "bytes"
	if rest == 1 {
		unit = "byte"
	}
	return fmt.Sprintf("%s… [%d %s left out]", s[:end], rest, unit)
}

// limited returns s cut to MaxText bytes.
func limited(s string) string { return Limit(s, MaxText) }
