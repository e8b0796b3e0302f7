package report

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const (
	columnGap = "  "
	// A last column narrower than this is left to the terminal to break: words one below the other help nobody.
	narrowest = 24
)

// Table writes rows in aligned columns. Leading spaces of a cell stay, what a terminal would obey goes. The last column may
// be empty; on a terminal it is broken into lines that fit.
func Table(w io.Writer, style Style, rows [][]string) {
	var widths []int
	clean := make([][]string, len(rows))
	for i, row := range rows {
		clean[i] = make([]string, len(row))
		for j, cell := range row {
			cell = strings.TrimRight(strings.NewReplacer("\n", " ", "\t", " ").Replace(Clean(cell)), " ")
			clean[i][j] = cell
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], ansi.StringWidth(cell))
		}
	}
	var b strings.Builder
	for _, row := range clean {
		b.WriteString(strings.TrimRight(tableLine(row, widths, style.Width), " ") + "\n")
	}
	_, _ = io.WriteString(w, b.String())
}

func tableLine(row []string, widths []int, limit int) string {
	var b strings.Builder
	at := 0
	for j, cell := range row {
		if j < len(row)-1 {
			b.WriteString(cell + strings.Repeat(" ", widths[j]-ansi.StringWidth(cell)) + columnGap)
			at += widths[j] + len(columnGap)
			continue
		}
		if room := limit - at; limit > 0 && room >= narrowest {
			cell = strings.ReplaceAll(ansi.Wrap(cell, room, ""), "\n", "\n"+strings.Repeat(" ", at))
		}
		b.WriteString(cell)
	}
	return b.String()
}
