package event

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/text"
)

// MaxText is the number of bytes that the text, the error and the progress messages of a call, each text in its
// arguments, and the reason of a trail, may have in events. The rest is left out. A session keeps the whole result of a
// call as an artifact.
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
	return fmt.Sprintf("%s… [%s left out]", s[:end], text.Count(len(s)-end, "byte"))
}

// limitText returns s cut to MaxText bytes.
func limitText(s string) string { return Limit(s, MaxText) }

// limitArgs returns args with each text in it cut to MaxText bytes. It returns args itself when none is longer.
func limitArgs(args map[string]any) map[string]any {
	if !hasLongText(args) {
		return args
	}
	out, _ := limitValue(args).(map[string]any) // a mapping stays one
	return out
}

func hasLongText(v any) bool {
	switch v := v.(type) {
	case string:
		return len(v) > MaxText
	case []any:
		return slices.ContainsFunc(v, hasLongText)
	case map[string]any:
		for _, e := range v {
			if hasLongText(e) {
				return true
			}
		}
	}
	return false
}

func limitValue(v any) any {
	switch v := v.(type) {
	case string:
		return limitText(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = limitValue(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = limitValue(e)
		}
		return out
	}
	return v
}
