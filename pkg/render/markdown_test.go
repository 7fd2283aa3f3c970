package render

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/changeward/changeward/pkg/plan"
)

func TestTheCommentOfAPullRequest(t *testing.T) {
	golden.Assert(t, Style{}.Markdown(Comment{View: storyView(), Result: storyResult()}), t.Name()+".golden")
}

func TestACommentStaysBelowTheLimitAndSaysWhatIsCut(t *testing.T) {
	p := storyPlan()
	for range 3000 {
		change := flagChange()
		change.Body.Namespace = strings.Repeat("`", 60)
		change.Risks = []plan.Risk{{Name: strings.Repeat("r", 300)}}
		p.Changes = append(p.Changes, change)
	}
	out := Style{}.Markdown(Comment{View: PlanView{Plan: p}, Result: storyResult()})
	assert.Assert(t, len(out) < markdownLimit, "%d bytes", len(out))
	assert.Assert(t, strings.Contains(out, "**Cut here:**"))
	assert.Assert(t, strings.Contains(out, "kubectl changeward show p_f88610636592"))
}

func TestNoDataLeavesTheCodeOfAComment(t *testing.T) {
	for _, s := range hostileStrings() {
		out := Style{}.Markdown(Comment{View: hostileView(s), Result: hostileResult(s)}) + ErrorComment([]string{s}, []string{s})
		outside := outsideCode(out)
		for _, forbidden := range []string{"@", "<script", "](", "everyone", "alert(1)", "# h1"} {
			assert.Assert(t, !strings.Contains(outside, forbidden), "%q leaks %q: %s", s, forbidden, outside)
		}
	}
}

// outsideCode is what a Markdown reader would not take for code.
func outsideCode(s string) string {
	var out strings.Builder
	fence := ""
	for line := range strings.SplitSeq(s, "\n") {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence != "" && ticks == fence && line == fence:
			fence = ""
		case fence == "" && len(ticks) >= 3 && !strings.Contains(line[len(ticks):], "`"):
			fence = ticks
		case fence == "":
			out.WriteString(withoutSpans(line) + "\n")
		}
	}
	return out.String()
}

func withoutSpans(line string) string {
	var out strings.Builder
	for line != "" {
		start := strings.IndexByte(line, '`')
		if start < 0 {
			break
		}
		out.WriteString(line[:start])
		rest := strings.TrimLeft(line[start:], "`")
		fence := strings.Repeat("`", len(line)-start-len(rest))
		end := closing(rest, fence)
		if end < 0 {
			out.WriteString(fence)
			line = rest
			continue
		}
		line = rest[end+len(fence):]
	}
	return out.String() + line
}

// closing finds a run of exactly the backticks of fence.
func closing(s, fence string) int {
	for i := 0; i < len(s); i++ {
		if s[i] != '`' {
			continue
		}
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if run == len(fence) {
			return i
		}
		i += run
	}
	return -1
}
