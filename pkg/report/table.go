package report

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

const (
	columnGap = 2
	// minColumn is the width in columns from which the last column is wrapped; lines of single words are hard to read.
	minColumn = 24
)

// Table writes rows in aligned columns. Leading spaces of a cell are kept. The last cell of a row may be empty; on a
// terminal, its lines are wrapped to fit.
func Table(w io.Writer, style Style, rows [][]string) { writeTable(w, style, rows, nil) }

// StatusTable is Table for rows whose first cell is a status: ok, warn or FAIL. It has the colour of its meaning.
func StatusTable(w io.Writer, style Style, rows [][]string) {
	p := newPalette(w, style)
	colors := map[string]colorFunc{"ok": p.good, "warn": p.warn, "FAIL": p.bad}
	writeTable(w, style, rows, func(cell string, column int) string {
		if color := colors[cell]; column == 0 && color != nil {
			return color(cell)
		}
		return cell
	})
}

// writeTable writes rows with cells that draw returns, which may be nil.
func writeTable(w io.Writer, style Style, rows [][]string, draw func(cell string, column int) string) {
	var widths []int // of the cells, gaps left out
	cells := make([][]string, len(rows))
	blanks := strings.NewReplacer("\n", " ", "\t", " ")
	for i, row := range rows {
		for j, cell := range row {
			cell = strings.TrimRight(blanks.Replace(Clean(cell)), " ")
			if draw != nil {
				cell = draw(cell, j)
			}
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], lipgloss.Width(cell))
			cells[i] = append(cells[i], cell)
		}
	}
	if len(widths) == 0 {
		return
	}
	for i, row := range cells {
		cells[i] = append(row, make([]string, len(widths)-len(row))...)
	}
	last := len(widths) - 1
	if room := style.Width - sum(widths[:last]) - columnGap*last; style.Width > 0 && room >= minColumn {
		widths[last] = min(widths[last], room)
	}
	var text strings.Builder
	for _, row := range cells {
		text.WriteString(alignRow(row, widths))
	}
	_, _ = io.WriteString(w, text.String())
}

// alignRow returns the lines of a row. Only the last cell may be wider than its column, and is wrapped then.
func alignRow(row []string, widths []int) string {
	last := len(row) - 1
	var start strings.Builder
	for i, cell := range row[:last] {
		start.WriteString(cell + strings.Repeat(" ", widths[i]-lipgloss.Width(cell)+columnGap))
	}
	cell := row[last]
	if lipgloss.Width(cell) > widths[last] {
		cell = lipgloss.NewStyle().Width(widths[last]).Render(cell)
	}
	var lines strings.Builder
	for i, line := range strings.Split(cell, "\n") {
		indent := start.String()
		if i > 0 {
			indent = strings.Repeat(" ", lipgloss.Width(indent))
		}
		lines.WriteString(strings.TrimRight(indent+line, " ") + "\n")
	}
	return lines.String()
}

func sum(numbers []int) int {
	total := 0
	for _, n := range numbers {
		total += n
	}
	return total
}
