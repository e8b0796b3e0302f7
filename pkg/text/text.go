// Package text has the small functions on texts that messages are made with.
package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Count returns a number with its noun, in the plural unless the number is 1: "1 file", "2 files".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Quote returns the names in double quotes, as in Go.
func Quote(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strconv.Quote(name)
	}
	return out
}

// FirstLine returns the first line of s, without white space around s.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// Head returns the first n characters of s, followed by "…" if it has more.
func Head(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}

// HeadBytes returns the whole characters in the first n bytes of s, followed by "…" if it has more.
func HeadBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// SecretMargin is how many bytes after its end RedactedHead looks at for the rest of a secret.
const SecretMargin = 4 << 10

// RedactedHead returns s if it has at most n bytes. Else it returns the whole characters in the first n bytes, with
// secrets replaced by redact, and without the beginning of a secret that goes on after them.
func RedactedHead(s string, n int, redact func(string) string) string {
	if len(s) <= n {
		return s
	}
	head, longer := redact(s[:n]), redact(s[:min(len(s), n+SecretMargin)])
	same := 0
	for same < min(len(head), len(longer)) && head[same] == longer[same] {
		same++
	}
	for least := max(0, same-utf8.UTFMax); same > least && same < len(longer) && !utf8.RuneStart(longer[same]); {
		same--
	}
	return head[:same]
}

// Shorten returns at most n characters of s, of which the last is "…" if it has more.
func Shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return Head(s, n-1)
}

// MaxSeen is how many things [Seen] lists.
const MaxSeen = 5

// Seen says which things came instead of what was waited for, the last [MaxSeen]: "requests: a, b", "requests: none".
func Seen(noun string, things []string) string {
	switch {
	case len(things) == 0:
		return noun + "s: none"
	case len(things) > MaxSeen:
		return fmt.Sprintf("the last %d of %d %ss: %s", MaxSeen, len(things), noun, strings.Join(things[len(things)-MaxSeen:], ", "))
	}
	return noun + "s: " + strings.Join(things, ", ")
}
