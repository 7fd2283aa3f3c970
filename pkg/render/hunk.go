package render

import "github.com/changeward/changeward/pkg/diff"

// hunks is the difference of two texts in unified form, without file names,
// every line escaped.
func hunks(before, after string) []string {
	var out []string
	for _, hunk := range diff.Hunks(before, after, diff.Context) {
		out = append(out, hunk.Header())
		for _, line := range hunk.Lines {
			out = append(out, string(line.Op)+escape(line.Text))
			if line.NoBreak {
				out = append(out, `\ no line feed at the end`)
			}
		}
	}
	return out
}
