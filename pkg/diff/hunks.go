package diff

import (
	"fmt"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Context is the number of unchanged lines that people expect around a change.
const Context = 3

// tooLong is the number of lines, of both texts together, above which they are
// not matched line by line: the search takes time by the square of it.
const tooLong = 10_000

// Line is one line of a hunk, without its line break.
type Line struct {
	Op   byte // ' ', '-' or '+'
	Text string
	// NoBreak says that the text ends without a line break here.
	NoBreak bool
}

// Hunk is a run of changed lines with the lines around them; lines count from
// 1.
type Hunk struct {
	OldStart, OldCount int
	NewStart, NewCount int
	Lines              []Line
}

// Header is the hunk's position as unified diffs write it: @@ -1,3 +1,4 @@.
func (h Hunk) Header() string {
	old, now := h.OldStart, h.NewStart
	if h.OldCount == 0 {
		old-- // the line before, as diff writes it
	}
	if h.NewCount == 0 {
		now--
	}
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@", old, h.OldCount, now, h.NewCount)
}

// Hunks compares two texts line by line and keeps context lines around each
// change. Equal texts have no hunks.
func Hunks(old, now string, context int) []Hunk {
	if old == now {
		return nil
	}
	return hunksOf(lines(old, now), context)
}

// lines is every line of both texts, in the order of a diff.
func lines(old, now string) []Line {
	if strings.Count(old, "\n")+strings.Count(now, "\n") > tooLong {
		return append(split('-', old), split('+', now)...)
	}
	differ := diffmatchpatch.New()
	differ.DiffTimeout = 0 // the default, one second, makes the result depend on the machine
	from, to, table := differ.DiffLinesToRunes(old, now)
	var out []Line
	for _, part := range differ.DiffCharsToLines(differ.DiffMainRunes(from, to, false), table) {
		switch part.Type {
		case diffmatchpatch.DiffDelete:
			out = append(out, split('-', part.Text)...)
		case diffmatchpatch.DiffInsert:
			out = append(out, split('+', part.Text)...)
		default:
			out = append(out, split(' ', part.Text)...)
		}
	}
	return out
}

func split(op byte, text string) []Line {
	var out []Line
	for line := range strings.Lines(text) {
		whole, found := strings.CutSuffix(line, "\n")
		out = append(out, Line{Op: op, Text: whole, NoBreak: !found})
	}
	return out
}

func hunksOf(all []Line, context int) []Hunk {
	var out []Hunk
	old, now := 1, 1 // the line that comes next in each text
	for i := 0; i < len(all); {
		if !near(all, i, context) {
			old, now, i = old+1, now+1, i+1
			continue
		}
		hunk := Hunk{OldStart: old, NewStart: now}
		for ; i < len(all) && near(all, i, context); i++ {
			hunk.Lines = append(hunk.Lines, all[i])
			if all[i].Op != '+' {
				hunk.OldCount++
			}
			if all[i].Op != '-' {
				hunk.NewCount++
			}
		}
		old, now = old+hunk.OldCount, now+hunk.NewCount
		out = append(out, hunk)
	}
	return out
}

// near says whether a changed line is at most context lines away.
func near(all []Line, i, context int) bool {
	for j := max(0, i-context); j <= min(len(all)-1, i+context); j++ {
		if all[j].Op != ' ' {
			return true
		}
	}
	return false
}
