package render

import (
	"fmt"
	"strings"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/state"
)

// markdownLimit is how large a comment may be, in bytes; forges refuse more
// than 65,536.
const markdownLimit = 60_000

// Comment is what a pull-request comment says about a plan. Result is nil
// where nothing was judged by a gate.
type Comment struct {
	View   PlanView
	Result *gate.Result
	// Verdict is the text of the verdict where there is no Result.
	Verdict string
}

// Markdown is a plan and its verdict as a pull-request comment of less than
// 60,000 bytes: verdict, risks, then changes with the riskiest first; what
// does not fit is cut, with a note. All data stands in code, so nothing in it
// is read as Markdown, HTML, a mention or a link.
func (s Style) Markdown(c Comment) string {
	s.Color, s.Full = false, false
	var out strings.Builder
	p := c.View.Plan
	fmt.Fprintf(&out, "### changeward: %s\n\n", s.title(c))
	fmt.Fprintf(&out, "%s\n", Code(s.headline(c.View)))
	if c.Result != nil && c.Result.Request != nil {
		r := c.Result.Request
		fmt.Fprintf(&out, "change %s (%d): %s\n", Code(r.ID), r.Number, Code(string(r.Status)))
	}
	if summary := s.summary(c); summary != "" {
		out.WriteString("\n" + Fence("", summary) + "\n")
	}
	head := out.String()
	foot := s.foot(c)
	room := markdownLimit - len(head) - len(foot) - 400 // the fences, the note
	return head + body(s, c.View, room) + foot + fmt.Sprintf("\n<sub>plan hash %s</sub>\n", Code(p.Hash))
}

// title is the verdict in words of this package's own.
func (s Style) title(c Comment) string {
	p := c.View.Plan
	switch {
	case !p.Complete():
		return "the plan is incomplete"
	case c.Result == nil && p.Empty():
		return "nothing to change"
	case c.Result == nil:
		return "plan"
	}
	word, _ := verdictWord(c.Result.Verdict.Decision)
	if !c.Result.Enforced {
		word += " (not enforced)"
	}
	return word
}

// summary is hooks, risks and verdict: what must be seen without scrolling.
func (s Style) summary(c Comment) string {
	l := &lines{style: s}
	l.out.WriteString(s.Risks(c.View.Plan))
	if c.Result == nil {
		l.out.WriteString(c.Verdict)
	} else {
		l.verdict(c.Result.Verdict, c.Result.Enforced)
		l.stale(c.Result)
	}
	text := l.out.String()
	if len(text) > markdownLimit/3 {
		return cutLines(text, markdownLimit/3) + "… cut: see the run's output\n"
	}
	return text
}

// body is the failures and changes, cut to room bytes.
func body(s Style, view PlanView, room int) string {
	l := &lines{style: s}
	l.failures(view.Plan)
	for _, change := range byRisk(view.Plan.Changes) {
		l.change(change)
	}
	for _, change := range view.Plan.Unchanged {
		l.unchanged(change, false)
	}
	text := l.out.String()
	if text == "" {
		return ""
	}
	if len(text) <= room {
		return "<details open><summary>changes</summary>\n\n" + Fence("diff", text) + "\n</details>\n"
	}
	kept := cutLines(text, room)
	rest := strings.Count(text, "\n") - strings.Count(kept, "\n")
	return "<details open><summary>changes</summary>\n\n" + Fence("diff", kept) + "\n</details>\n\n" +
		fmt.Sprintf("**Cut here:** %s not fit into a comment. The run's output has all, and so has %s.\n",
			count(rest, "more line does", "more lines do"), Code(s.program()+" show "+state.PlanID(view.Plan.Hash)))
}

// foot says how to go on.
func (s Style) foot(c Comment) string {
	if c.Result == nil || c.Result.Request == nil || c.Result.Verdict.Decision != state.VerdictApprovalRequired {
		return ""
	}
	return fmt.Sprintf("\nApprove with %s, then run the gate again.\n", Code(s.program()+" approve "+c.Result.Request.ID))
}

// cutLines is whole lines of text, at most limit bytes.
func cutLines(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return text[:strings.LastIndexByte(text[:max(limit, 0)], '\n')+1]
}

// ErrorComment is the pull-request comment of a run that failed before it had
// a plan.
func ErrorComment(messages, hints []string) string {
	var text strings.Builder
	for _, message := range messages {
		text.WriteString("error: " + message + "\n")
	}
	for _, hint := range hints {
		text.WriteString("hint: " + hint + "\n")
	}
	return "### changeward: error\n\n" + Fence("", cutLines(text.String(), markdownLimit-200))
}
