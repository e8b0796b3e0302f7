// Package report renders events and errors: on the console, as JSON lines, session logs, JUnit and HTML; and small
// tables. It does not depend on where events come from, and reads neither the terminal nor the environment: cmd decides
// the Style.
//
// A [Run] is what events say, folded from them one by one. The console, JUnit and HTML each read one. That of the console
// and of JUnit, which write a case when it ends, forgets it then.
//
// Rules of the console:
//   - The result line of a trail starts with a symbol, other lines with words. Colour only repeats the meaning of a
//     symbol or word.
//   - The symbols are ✓ ✗ – and a spinner, or ok FAIL skip and | / - \ for a terminal or locale without UTF-8.
//   - Colour and live lines are used only if the Style allows them. Live lines show the running trails; they are
//     redrawn at most ten times a second, and removed before the result is printed.
//   - Lines of trails that run at once are not mixed: a single line names its trail, and the steps and calls of a trail
//     are written as a block with its result.
//   - Failures are printed at the end, in at most forty lines in total, with the paths of files that have the details.
//     The counts are the last line.
//   - Text of tools, trails and servers goes through Clean.
//
// A stream calls its handlers one record at a time. Console has a goroutine, which Close joins.
package report

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Style describes the terminal that text is written to.
type Style struct {
	Color  bool
	Live   bool // lines may be redrawn in place
	Width  int  // columns of the terminal; 0 without one: nothing is truncated or wrapped
	Height int  // lines of the terminal; 0 when unknown
	ASCII  bool // only ASCII symbols can be shown
}

// DecideStyle returns the style for an environment, a stream that may be a terminal of some width in columns (0 when
// unknown), and --no-color. Colour and live lines need a terminal and none of NO_COLOR, TERM=dumb, CI and --no-color.
func DecideStyle(env func(string) (string, bool), isTerminal bool, width int, noColor bool) Style {
	get := func(name string) string { value, _ := env(name); return value }
	ci := strings.ToLower(get("CI"))
	dumb := get("TERM") == "dumb"
	s := Style{ASCII: dumb || !unicodeLocale(get)}
	if !isTerminal {
		return s
	}
	s.Color = get("NO_COLOR") == "" && !dumb && !noColor && (ci == "" || ci == "0" || ci == "false")
	s.Live = s.Color
	if s.Width = width; width <= 0 {
		s.Width = 80
	}
	return s
}

// unicodeLocale reports whether the locale uses UTF-8. It returns true without a locale, as in most containers.
func unicodeLocale(get func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(get(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return true
}

// colorFunc returns words with a colour or another attribute of terminals, joined by spaces.
type colorFunc func(...string) string

type palette struct {
	good, bad, warn, dim, strong  colorFunc
	passed, failed, skipped, more string
	dash, dot                     string // between the parts of a live line
	spinner                       []string
}

func newPalette(w io.Writer, style Style) palette {
	p := palette{
		passed: "✓", failed: "✗", skipped: "–", more: "…", dash: " — ", dot: " · ",
		spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
	}
	if style.ASCII {
		p = palette{passed: "ok", failed: "FAIL", skipped: "skip", more: "...", dash: " - ", dot: ", ", spinner: []string{"|", "/", "-", `\`}}
	}
	if !style.Color {
		none := func(words ...string) string { return strings.Join(words, " ") }
		p.good, p.bad, p.warn, p.dim, p.strong = none, none, none, none, none
		return p
	}
	r := lipgloss.NewRenderer(w, termenv.WithProfile(termenv.ANSI))
	r.SetColorProfile(termenv.ANSI) // otherwise it inspects the terminal
	color := func(c string) colorFunc { return r.NewStyle().Foreground(lipgloss.Color(c)).Render }
	p.good, p.bad, p.warn = color("2"), color("1"), color("3")
	p.dim, p.strong = r.NewStyle().Faint(true).Render, r.NewStyle().Bold(true).Render
	return p
}
