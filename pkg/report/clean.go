package report

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Clean returns s for a terminal: without escape sequences (CSI, OSC, DCS and others) and control characters other than
// newline and tab, and with characters that are invisible or change the order of others as ‹U+202E›. Line ends become
// \n, invalid UTF-8 becomes U+FFFD. Of a sequence without an end only the introducer is removed, so that the text after
// it is kept.
func Clean(s string) string {
	if !strings.ContainsFunc(s, needsCleaning) {
		return s
	}
	s = sevenBit(s)
	var b strings.Builder
	var written rune
	for i := 0; i < len(s); {
		c, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == ansi.ESC:
			size = sequenceLength(s[i:])
		case isInvisible(c) && !isJoiner(written, c):
			fmt.Fprintf(&b, "‹U+%04X›", c)
			written = '›'
		case c == '\n' || c == '\t' || !isControl(c):
			b.WriteRune(c)
			written = c
		}
		i += size
	}
	return b.String()
}

func needsCleaning(c rune) bool {
	return c == utf8.RuneError || c != '\n' && c != '\t' && isControl(c) || isInvisible(c)
}

func isControl(c rune) bool { return c < 0x20 || 0x7f <= c && c < 0xa0 }

// isInvisible reports whether c has no width, or changes the order of the characters around it.
func isInvisible(c rune) bool {
	switch {
	case c < 0xad:
		return false
	case c == 0xad, c == 0x61c, c == 0x180e, c == 0xfeff, 0x115f <= c && c <= 0x1160: // soft hyphen, marks, fillers
		return true
	case 0x200b <= c && c <= 0x200f, 0x202a <= c && c <= 0x202e, 0x2060 <= c && c <= 0x206f: // spaces, joiners, bidi controls
		return true
	}
	return 0xfff9 <= c && c <= 0xfffb || 0xe0000 <= c && c <= 0xe007f // annotations, tags
}

// isJoiner reports whether c joins characters as scripts and emoji need it, after the character before it. Text in
// Latin, Greek or Cyrillic letters needs no joiners.
func isJoiner(before, c rune) bool { return (c == 0x200c || c == 0x200d) && before >= 0x590 }

// sevenBit replaces one-character control sequences (C1) by those that begin with an escape, line ends by \n, and bytes
// that are not UTF-8 by U+FFFD.
func sevenBit(s string) string {
	var b strings.Builder
	for i, c := range s {
		switch {
		case c == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case c == '\r':
			b.WriteByte('\n')
		case 0x80 <= c && c < 0xa0:
			b.WriteString("\x1b" + string(c-0x40))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// sequenceLength returns the length of the escape sequence at the beginning of s. Of OSC, DCS and similar sequences
// without an end it is that of the introducer.
func sequenceLength(s string) int {
	seq, _, n, state := ansi.DecodeSequence(s, ansi.NormalState, nil)
	hasString := len(s) > 1 && strings.IndexByte("]PX^_", s[1]) >= 0
	ended := strings.HasSuffix(seq, "\x1b\\") || strings.HasSuffix(seq, "\a")
	if hasString && (state != ansi.NormalState || !ended) {
		return len("\x1b]")
	}
	return n
}

// truncate returns at most the first n bytes of s, followed by " ..." when there are more.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " ..."
}

// oneLine cleans text and joins its words by single spaces, so that it is on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// pathText cleans a path, and replaces newlines by spaces. It keeps all spaces.
func pathText(s string) string { return strings.ReplaceAll(Clean(s), "\n", " ") }

// fitWidth truncates s to width columns, with tail at its end when it was truncated.
func fitWidth(s string, width int, tail string) string { return ansi.Truncate(s, width, tail) }

// formatDuration formats a duration in tenths of seconds, in minutes or in hours.
func formatDuration(d time.Duration) string {
	switch d = d.Round(100 * time.Millisecond); {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// formatMillis formats milliseconds, as such below 100.
func formatMillis(ms int64) string {
	if ms < 100 {
		return fmt.Sprintf("%dms", ms)
	}
	return formatDuration(time.Duration(ms) * time.Millisecond)
}
