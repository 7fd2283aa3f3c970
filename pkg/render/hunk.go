package render

import (
	"fmt"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"
)

const context = 3 // equal lines around a difference

// hunks is the difference of two escaped texts in unified form, without file
// names.
func hunks(before, after string) []string {
	all := lineDiff(before, after)
	keep := make([]bool, len(all))
	for i, line := range all {
		if line[0] == ' ' {
			continue
		}
		for j := max(0, i-context); j <= min(len(all)-1, i+context); j++ {
			keep[j] = true
		}
	}
	var out []string
	oldLine, newLine := 1, 1
	for i, line := range all {
		if keep[i] {
			if i == 0 || !keep[i-1] {
				out = append(out, fmt.Sprintf("@@ -%d +%d @@", oldLine, newLine))
			}
			out = append(out, line)
		}
		if line[0] != '+' {
			oldLine++
		}
		if line[0] != '-' {
			newLine++
		}
	}
	return out
}

// lineDiff is every line of both texts, marked ' ', '-' or '+'.
func lineDiff(before, after string) []string {
	differ := diffmatchpatch.New()
	differ.DiffTimeout = 0 // else the result degrades after a second
	before, after = ended(before, after)
	a, b, table := differ.DiffLinesToRunes(before, after)
	var out []string
	for _, d := range differ.DiffCharsToLines(differ.DiffMainRunes(a, b, false), table) {
		mark := map[diffmatchpatch.Operation]string{
			diffmatchpatch.DiffDelete: "-", diffmatchpatch.DiffInsert: "+", diffmatchpatch.DiffEqual: " "}[d.Type]
		for line := range strings.SplitSeq(strings.TrimSuffix(d.Text, "\n"), "\n") {
			out = append(out, mark+line)
		}
	}
	return out
}

// ended makes two texts end with a line feed. Where only one of them did, the
// other gets a line that says so.
func ended(before, after string) (string, string) {
	const mark = "\n\\ no line feed at the end\n"
	a, b := strings.HasSuffix(before, "\n") || before == "", strings.HasSuffix(after, "\n") || after == ""
	switch {
	case a && !b:
		return before, after + mark
	case b && !a:
		return before + mark, after
	case !a:
		return before + "\n", after + "\n"
	}
	return before, after
}

// cutLine splits text at its first line feed.
func cutLine(text string) (line, rest string, more bool) { return strings.Cut(text, "\n") }
