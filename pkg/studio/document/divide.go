package document

import (
	"strings"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// anchor is what may be an anchor, by which a value is used elsewhere in a file.
var anchor = lazyregexp.New(`(^|[\s,\[{])&[^\s&]`)

// divide divides a text at its steps. ok is false for a text whose steps are not lines of their own below trail: at its
// end, or which may use values of one step in another.
func divide(text string, file *trail.File) (head string, parts []part, ok bool) {
	if file.List || len(file.Steps) == 0 || anchor().MatchString(text) {
		return "", nil, false
	}
	lines := strings.SplitAfter(text, "\n")
	starts := make([]int, 0, len(file.Steps)+1)
	indent := -1
	for i := range file.Steps {
		step := &file.Steps[i]
		line := lines[step.Line-1]
		dash := strings.IndexByte(line, '-')
		switch {
		case dash < 0 || strings.TrimLeft(line[:dash], " ") != "" || indent >= 0 && dash != indent,
			len(line)-len(strings.TrimLeft(line[dash+1:], " ")) != step.Column-1:
			return "", nil, false
		}
		indent = dash
		starts = append(starts, withComments(lines, step.Line-1, indent))
	}
	if !isEnd(lines[starts[0]:], indent) {
		return "", nil, false
	}
	starts = append(starts, len(lines))
	for i := range file.Steps {
		from, to := starts[i], starts[i+1]
		step := file.Steps[i].Moved(-from)
		lines := strings.Join(lines[from:to], "")
		parts = append(parts, part{text: lines, lines: strings.Count(lines, "\n"), step: &step, shown: map[string][]Call{}})
	}
	return strings.Join(lines[:starts[0]], ""), parts, true
}

// withComments returns the first of the comment lines directly above a line, else the line.
func withComments(lines []string, line, indent int) int {
	for line > 0 {
		above := strings.TrimLeft(lines[line-1], " ")
		if !strings.HasPrefix(above, "#") || len(lines[line-1])-len(above) > indent {
			break
		}
		line--
	}
	return line
}

// isEnd reports whether the lines from the first step on have nothing but the steps.
func isEnd(lines []string, indent int) bool {
	for _, line := range lines {
		if strings.HasPrefix(line, "-") && (indent > 0 || !strings.HasPrefix(line, "- ")) || strings.TrimLeft(line, " \t\r\n#-") == line && line != "" {
			return false
		}
	}
	return true
}
