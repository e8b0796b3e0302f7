package report

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/lipgloss/table"
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
	for i, row := range rows {
		for j, cell := range row {
			cell = strings.TrimRight(strings.NewReplacer("\n", " ", "\t", " ").Replace(Clean(cell)), " ")
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
	// Without a bottom border, an empty line here, lipgloss leaves out the last row.
	t := table.New().Border(lipgloss.Border{}).BorderTop(false).BorderLeft(false).BorderRight(false).BorderHeader(false).
		BorderColumn(false).Rows(cells...).
		StyleFunc(func(_, column int) lipgloss.Style {
			if column == last {
				return lipgloss.NewStyle().Width(widths[column])
			}
			return lipgloss.NewStyle().Width(widths[column] + columnGap).PaddingRight(columnGap)
		})
	for line := range strings.SplitSeq(strings.TrimSuffix(t.Render(), "\n"), "\n") {
		_, _ = io.WriteString(w, strings.TrimRight(line, " ")+"\n")
	}
}

func sum(numbers []int) int {
	total := 0
	for _, n := range numbers {
		total += n
	}
	return total
}
