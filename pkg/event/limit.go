package event

import (
	"fmt"
	"unicode/utf8"
)

// MaxText is the number of bytes that the text, the error and the progress messages of a call may have in events. The rest is
// left out; a session keeps the whole result of a call as an artifact.
const MaxText = 64 << 10

// limited returns s cut to MaxText, with a note of the number of bytes that were left out.
func limited(s string) string {
	if len(s) <= MaxText {
		return s
	}
	end := MaxText
	for end > MaxText-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	rest, unit := len(s)-end, "bytes"
	if rest == 1 {
		unit = "byte"
	}
	return fmt.Sprintf("%s… [%d %s left out]", s[:end], rest, unit)
}
