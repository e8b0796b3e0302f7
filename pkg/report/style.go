// Package report renders what a run does and what went wrong: the console, JSON lines, the session's log, JUnit, errors and
// small tables. It knows events and faults and writers; it refuses to know where events come from, and it never asks a
// terminal or the environment anything: a Style says it all, and cmd decides it.
//
// The rules of the human output:
//   - The result line of a trail starts with a symbol, everything else with words. Colour only repeats what a symbol or a
//     word says already.
//   - Symbols are ✓ ✗ – and a spinner; ok FAIL skip and | / - \ for a terminal or locale that has no UTF-8.
//   - Nothing moves and nothing is coloured unless the Style says so; then only what is on its way is redrawn, in place, at
//     most ten times a second, and it is gone before the result is printed.
//   - Lines of trails that run at once never stand between each other: a line that stands alone names its trail, and what belongs
//     together is written as one block with the trail's result.
//   - Failures come last but for the counts, where the eye is when a run ends. They get forty lines in all; the rest is
//     referred to by path. The last line is the counts.
//   - Text of tools, trails and servers goes through Clean before it is printed.
//
// Handlers are called by one stream, one record at a time; Console alone has a goroutine, which Close ends.
package report

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Style says how to write for people.
type Style struct {
	Color  bool
	Live   bool // lines may be redrawn in place
	Width  int  // columns of the terminal; 0 for none, nothing is cut or broken to fit
	Height int  // lines of the terminal; 0 when unknown
	ASCII  bool // symbols beyond ASCII do not arrive
}

// DecideStyle decides from the environment, whether the stream is a terminal, the terminal's width in columns (0 for unknown),
// and --no-color. Colour and live lines need a terminal and none of NO_COLOR, TERM=dumb, CI and --no-color.
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

// unicodeLocale is false when the locale names another character set. Without a locale, as in most containers, whoever reads
// the output still reads UTF-8.
func unicodeLocale(get func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(get(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return true
}

// paint colours a word.
type paint func(...string) string

type palette struct {
	good, bad, warn, dim, strong  paint
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
	r.SetColorProfile(termenv.ANSI) // or it looks at the terminal
	color := func(c string) paint { return r.NewStyle().Foreground(lipgloss.Color(c)).Render }
	p.good, p.bad, p.warn = color("2"), color("1"), color("3")
	p.dim, p.strong = r.NewStyle().Faint(true).Render, r.NewStyle().Bold(true).Render
	return p
}
