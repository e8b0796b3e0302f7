package report

import (
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// terminal interprets the control sequences that the console uses. Others, and text that would wrap, fail the test.
type terminal struct {
	t        *testing.T
	width    int
	lines    []string // with text up to the widest column written
	row, col int
	wrapping bool
	rest     string // an escape sequence that has not ended
	writes   int
}

func newTerminal(t *testing.T, width int) *terminal {
	t.Helper()
	return &terminal{t: t, width: width, lines: []string{""}, wrapping: true}
}

func (v *terminal) Write(b []byte) (int, error) {
	v.writes++
	text := v.rest + string(b)
	v.rest = ""
	for text != "" {
		switch text[0] {
		case '\x1b':
			end := strings.IndexAny(text, "ABCDHJKhlm")
			if end < 0 {
				v.rest = text
				return len(b), nil
			}
			v.obey(text[:end+1])
			text = text[end+1:]
		case '\r':
			v.col, text = 0, text[1:]
		case '\n':
			v.row, v.col, text = v.row+1, 0, text[1:] // as the line discipline has it
			if v.row == len(v.lines) {
				v.lines = append(v.lines, "")
			}
		default:
			end := strings.IndexAny(text, "\x1b\r\n")
			if end < 0 {
				end = len(text)
			}
			v.put(text[:end])
			text = text[end:]
		}
	}
	return len(b), nil
}

func (v *terminal) put(s string) {
	if v.col != ansi.StringWidth(v.lines[v.row]) {
		v.t.Errorf("%q is written over %q at column %d", s, v.lines[v.row], v.col)
	}
	v.lines[v.row] += s
	v.col = ansi.StringWidth(v.lines[v.row])
	if v.col > v.width && !v.wrapping {
		v.t.Errorf("%q has %d columns, the terminal %d", v.lines[v.row], v.col, v.width)
	}
}

func (v *terminal) obey(sequence string) {
	switch argument, final := sequence[2:len(sequence)-1], sequence[len(sequence)-1]; {
	case final == 'A':
		n, err := strconv.Atoi(argument)
		if err != nil || n > v.row {
			v.t.Errorf("up %s from row %d", argument, v.row)
			return
		}
		v.row -= n
	case final == 'J' && argument == "" && v.col == 0:
		v.lines = append(v.lines[:v.row], "")
	case argument == "?7" && final != 'm':
		v.wrapping = final == 'h'
	case final == 'm':
	default:
		v.t.Errorf("unknown sequence %q", sequence)
	}
}

// screen returns the visible text.
func (v *terminal) screen() string {
	return strings.TrimRight(strings.Join(v.lines, "\n"), "\n") + "\n"
}
