package render

import (
	"fmt"
	"strings"

	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/state"
)

// AuditEntries is the chain as a table, in the order given.
func AuditEntries(clusterUID string, entries []audit.Entry) string {
	rows := make([][]string, 0, len(entries))
	for _, e := range entries {
		verdict, change := e.Verdict, ""
		if e.NotEnforced {
			verdict += ", not enforced"
		}
		if e.Auto {
			verdict += ", by policy alone"
		}
		if e.Void != "" {
			verdict = "does not hold: " + e.Void
		}
		if e.Request > 0 {
			change = fmt.Sprintf("%s (#%d)", state.ChangeID(clusterUID, e.PlanHash, e.Request), e.Request)
		}
		rows = append(rows, []string{fmt.Sprint(e.Number), Time(e.Created), verdict, change, e.Scope, e.Actor.Username})
	}
	return Table([]string{"ENTRY", "TIME", "VERDICT", "CHANGE", "SCOPE", "BY"}, rows)
}

// Verification is what an audit found, as text. limits say what it could not
// prove.
func (s Style) Verification(v audit.Verification, limits []string) string {
	l := &lines{style: s}
	l.line(bold, fmt.Sprintf("chain: %s, from %d to %d", count(v.Entries, "entry", "entries"), v.First, v.Last))
	if v.Archived > 0 {
		l.line(plain, fmt.Sprintf("  %s before are in bundles, as checkpoints say", count(v.Archived, "entry", "entries")))
	}
	l.field("head", v.Head)
	if v.Behind > 0 {
		l.line(plain, fmt.Sprintf("  %s since the expected head", count(v.Behind, "entry", "entries")))
	}
	l.field("first policy", v.FirstPolicy)
	l.line(plain, fmt.Sprintf("read: %s, %s, %s, %s", count(v.Plans, "plan", "plans"), count(v.Decisions, "decision", "decisions"),
		count(v.Outcomes, "outcome", "outcomes"), count(v.Keys, "key", "keys")))
	for _, f := range v.Findings {
		l.line(red, "finding: "+Escape(auditFinding(f)))
	}
	for _, f := range v.Notes {
		l.line(yellow, "note: "+Escape(auditFinding(f)))
	}
	l.limits(limits)
	if len(v.Findings) == 0 {
		l.line(green, "every signature and the whole chain hold")
	} else {
		l.line(red, count(len(v.Findings), "finding", "findings"))
	}
	return l.out.String()
}

func (l *lines) limits(limits []string) {
	for _, limit := range limits {
		l.line(faint, "not proven: "+Escape(limit))
	}
}

func auditFinding(f audit.Finding) string {
	if f.Record == "" {
		return f.Reason + ": " + f.Message
	}
	return f.Reason + " " + f.Record + ": " + f.Message
}

// AuditReport is who approved what, as text, with what went around the gate
// first.
func (s Style) AuditReport(cluster string, r audit.Report, limits []string) string {
	l := &lines{style: s}
	l.line(bold, "audit report of cluster "+Escape(cluster))
	for _, part := range reportParts(r) {
		colour := part.colour
		if len(part.changes) == 0 {
			colour = green
		}
		l.line(colour, fmt.Sprintf("%s: %d", part.title, len(part.changes)))
		for _, c := range part.changes {
			l.auditChange(c)
		}
	}
	l.line(bold, "how complete this is")
	for _, line := range completeness(r) {
		l.line(plain, "  "+Escape(line))
	}
	l.limits(limits)
	return l.out.String()
}

type reportPart struct {
	title, colour string
	changes       []audit.Change
}

func reportParts(r audit.Report) []reportPart {
	return []reportPart{
		{"applied without an approval", red, r.Unapproved},
		{"emergencies to be reviewed", yellow, r.Emergencies},
		{"passed, though policy did not allow it (not enforced)", yellow, r.Unenforced},
		{"all that passed through a gate", plain, r.Changes},
	}
}

func (l *lines) auditChange(c audit.Change) {
	l.line(plain, indent+Escape(changeLine(c)))
	for _, d := range c.Decisions {
		l.line(faint, indent+indent+Escape(decisionLine(c, d)))
	}
	for _, f := range c.Doubts {
		l.line(red, indent+indent+"not proven: "+Escape(auditFinding(f)))
	}
}

// changeLine is what was asked, by whom, and what became of it.
func changeLine(c audit.Change) string {
	verdict := c.Verdict
	switch {
	case verdict == "":
		verdict = "never decided"
	case c.Auto:
		verdict += " by policy alone"
	}
	if c.NotEnforced {
		verdict += ", not enforced"
	}
	if c.Result != "" {
		verdict += fmt.Sprintf(", %s %s", c.Result, Time(c.Finished))
	}
	text := fmt.Sprintf("#%d %s %s of %s, %s: %s", c.Number, c.ID, c.Header.Scope, who(c.Header), Time(c.Created), verdict)
	if c.Header.Ticket != "" {
		text += ", ticket " + c.Header.Ticket
	}
	return text + because(c.Header.Reason)
}

func decisionLine(c audit.Change, d audit.Decision) string {
	text := fmt.Sprintf("%s by %s (%s), %s", Past(d.Action), d.Person.Username, d.SignedBy, Time(d.Created))
	if d.Emergency {
		text += ", emergency"
	}
	if d.Ticket != "" {
		text += ", ticket " + d.Ticket
	}
	if d.Revoked {
		text += ", with a key that was revoked later"
	}
	switch {
	case d.Void != "":
		text += ", proves nothing: " + d.Void + because(d.Detail)
	case !c.Counted(d):
		text += ", not counted"
	}
	return text + because(d.Reason)
}

func completeness(r audit.Report) []string {
	lines := []string{"it holds all that passed through a gate; what was applied past every gate shows only where live objects were compared"}
	if r.Archived > 0 {
		lines = append(lines, fmt.Sprintf("%s are in bundles, and not here: report on those with --bundle", count(r.Archived, "older entry", "older entries")))
	}
	if !r.From.IsZero() {
		lines = append(lines, "the oldest entry here is of "+Time(r.From))
	}
	for _, s := range r.Scopes {
		seen := "live objects never compared"
		if !s.Seen.IsZero() {
			seen = fmt.Sprintf("live objects last compared %s: %s", Time(s.Seen), s.Result)
		}
		lines = append(lines, fmt.Sprintf("scope %s: %s, last passed %s, %s", s.Scope, count(s.Changes, "change", "changes"), day(s.Passed), seen))
	}
	return lines
}

// AuditReportMarkdown is the report for a ticket or a wiki.
func AuditReportMarkdown(cluster string, r audit.Report, limits []string) string {
	return Fence("", strings.TrimRight(Style{Full: true}.AuditReport(cluster, r, limits), "\n"))
}

// Text is the answer of an export.
func (e AuditExport) Text() string {
	return fmt.Sprintf("wrote %s into %s\n  bundle %s\n  head %s\n  first policy %s\n", count(e.Records, "record", "records"),
		Escape(e.File), e.Digest, Escape(e.Head), Escape(e.FirstPolicy))
}

// Text is the answer of an archive.
func (a AuditArchive) Text() string {
	if a.File == "" {
		return "nothing to archive: no settled change is from before " + a.Before + "\n"
	}
	return fmt.Sprintf("archived into %s: %s deleted here\n  bundle %s\n  checkpoint %s\nkeep the bundle: it is all that is left of them\n",
		Escape(a.File), count(a.Deleted, "record", "records"), a.Digest, Escape(a.Checkpoint))
}
