package render

import (
	"strings"
	"unicode/utf8"
)

// Table is rows under a header, columns aligned, every cell escaped. Columns
// are as wide as their longest cell.
func Table(header []string, rows [][]string) string {
	widths := make([]int, len(header))
	escaped := make([][]string, 0, len(rows)+1)
	for _, row := range append([][]string{header}, rows...) {
		cells := make([]string, len(header))
		for i := range header {
			if i < len(row) {
				cells[i] = Escape(row[i])
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cells[i]))
		}
		escaped = append(escaped, cells)
	}
	var out strings.Builder
	for _, cells := range escaped {
		var line strings.Builder
		for i, cell := range cells {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+3))
		}
		out.WriteString(guardLine(strings.TrimRight(line.String(), " ")) + "\n")
	}
	return out.String()
}
