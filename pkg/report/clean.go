package report

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const escape = 0x1b

// Clean returns s without what a terminal would obey: escape sequences (CSI, OSC, DCS and their like) and control
// characters, old (C0, DEL) and new (C1), but for newline and tab. Line ends become \n, invalid UTF-8 becomes U+FFFD.
// A sequence without its end loses only its beginning, so that no text is lost with it.
func Clean(s string) string {
	if !needsCleaning(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		c, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == escape:
			i += sequence(s[i:], size)
			continue
		case c == 0x9b: // one-character CSI
			i += size + controlSequence(s[i+size:])
			continue
		case c == '\r':
			if !strings.HasPrefix(s[i+size:], "\n") {
				b.WriteByte('\n')
			}
		case c == '\n' || c == '\t' || c >= 0x20 && !isControl(c):
			b.WriteRune(c)
		}
		i += size
	}
	return b.String()
}

func needsCleaning(s string) bool {
	for _, c := range s {
		if c == utf8.RuneError || c != '\n' && c != '\t' && isControl(c) {
			return true
		}
	}
	return false
}

func isControl(c rune) bool { return c < 0x20 || 0x7f <= c && c < 0xa0 }

// sequence returns the length of the escape sequence at the start of s; esc is the length of the escape itself.
func sequence(s string, esc int) int {
	rest := s[esc:]
	if rest == "" {
		return esc
	}
	switch rest[0] {
	case '[':
		return esc + 1 + controlSequence(rest[1:])
	case ']', 'P', 'X', '^', '_':
		return esc + 1 + stringBody(rest[1:])
	}
	n := 0
	for n < len(rest) && 0x20 <= rest[n] && rest[n] < 0x30 {
		n++
	}
	if n < len(rest) && 0x30 <= rest[n] && rest[n] < 0x7f {
		n++
	}
	return esc + n
}

// controlSequence returns the length of a CSI sequence's parameters and final byte.
func controlSequence(s string) int {
	n := 0
	for n < len(s) && 0x20 <= s[n] && s[n] < 0x40 {
		n++
	}
	if n < len(s) && 0x40 <= s[n] && s[n] < 0x7f {
		n++
	}
	return n
}

// stringBody returns the length of what an OSC or DCS holds, with its end: BEL, ESC \ or ST. 0 when another sequence starts
// before it ends, which also keeps Clean linear.
func stringBody(s string) int {
	body := strings.IndexAny(s, "\a\u009c\x1b")
	if body < 0 {
		return 0
	}
	for _, end := range []string{"\a", "\u009c", "\x1b\\"} {
		if strings.HasPrefix(s[body:], end) {
			return body + len(end)
		}
	}
	return 0
}

// head returns at most the first n bytes of s, and what says so if there are more. What tools print can be megabytes.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " ..."
}

// oneLine is Clean for a place that has one line.
func oneLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// pathText is Clean for a path, of which every space counts.
func pathText(s string) string { return strings.ReplaceAll(Clean(s), "\n", " ") }

// clip cuts s to width columns, with tail as its end when something is missing.
func clip(s string, width int, tail string) string { return ansi.Truncate(s, width, tail) }

// seconds writes a duration for people.
func seconds(d time.Duration) string {
	switch d = d.Round(100 * time.Millisecond); {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// millis writes how long something took, which may be next to nothing.
func millis(ms int64) string {
	if ms < 100 {
		return fmt.Sprintf("%dms", ms)
	}
	return seconds(time.Duration(ms) * time.Millisecond)
}
