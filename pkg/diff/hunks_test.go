package diff_test

import (
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
)

func unified(hunks []diff.Hunk) string {
	var out strings.Builder
	for _, h := range hunks {
		out.WriteString(h.Header() + "\n")
		for _, l := range h.Lines {
			out.WriteString(string(l.Op) + l.Text + "\n")
			if l.NoBreak {
				out.WriteString("\\\n")
			}
		}
	}
	return out.String()
}

func TestHunksReadLikeAUnifiedDiff(t *testing.T) {
	long := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	for _, c := range []struct{ name, old, now, want string }{
		{"equal", "a\n", "a\n", ""},
		{"one line of many", long, strings.Replace(long, "5", "five", 1),
			"@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"two hunks", long + long, "0\n" + long + long + "0\n",
			"@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -16,3 +17,4 @@\n 7\n 8\n 9\n+0\n"},
		{"from nothing", "", "a\nb", "@@ -0,0 +1,2 @@\n+a\n+b\n\\\n"},
		{"only the last line break", "a\nb\n", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\\n"},
	} {
		assert.Equal(t, unified(diff.Hunks(c.old, c.now, diff.Context)), c.want, c.name)
	}
}

func TestHunksOfHugeTextsLoseNothing(t *testing.T) {
	var old, now []string
	for i := range 70_000 {
		old, now = append(old, "old "+strconv.Itoa(i)), append(now, "new "+strconv.Itoa(i))
	}
	hunks := diff.Hunks(strings.Join(old, "\n"), strings.Join(now, "\n"), diff.Context)
	assert.Equal(t, len(hunks), 1)
	assert.Equal(t, len(hunks[0].Lines), 140_000)
}

func TestHunksKeepEveryLineOfBothTexts(t *testing.T) {
	var old, now []string
	for i := range 4_000 {
		old = append(old, strconv.Itoa(i))
		if i%7 != 0 {
			now = append(now, strconv.Itoa(i*(1+i%3)))
		}
	}
	var gotOld, gotNow []string
	for _, h := range diff.Hunks(strings.Join(old, "\n"), strings.Join(now, "\n"), len(old)) {
		for _, l := range h.Lines {
			if l.Op != '+' {
				gotOld = append(gotOld, l.Text)
			}
			if l.Op != '-' {
				gotNow = append(gotNow, l.Text)
			}
		}
	}
	assert.DeepEqual(t, gotOld, old)
	assert.DeepEqual(t, gotNow, now)
}
