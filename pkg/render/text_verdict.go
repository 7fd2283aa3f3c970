package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// Gate is a gate's answer as text: the plan, the change request, what policy
// says, who approved, and why an earlier approval no longer holds.
func (s Style) Gate(view PlanView, r *gate.Result) string {
	l := &lines{style: s}
	l.out.WriteString(s.Plan(view))
	if r.Request != nil {
		l.line(bold, fmt.Sprintf("change %s (#%d): %s", Escape(r.Request.ID), r.Request.Number, Escape(string(r.Request.Status))))
		l.decisions(r.Request.Decisions)
	}
	l.verdict(r.Verdict, r.Enforced)
	l.stale(r)
	for _, warning := range r.Warnings {
		l.line(yellow, "warning: "+Escape(warning))
	}
	if r.ChainHead != "" {
		l.line(faint, "audit head: "+Escape(r.ChainHead))
	}
	return l.out.String()
}

// Policy is what policy would say of a plan that nothing was recorded of.
func (s Style) Policy(j policy.Judgement) string {
	l := &lines{style: s}
	verdict := gate.Verdict{Decision: j.Verdict, Reasons: j.Reasons}
	for _, requirement := range j.Requirements {
		verdict.Requirements = append(verdict.Requirements, gate.Need{Requirement: requirement})
	}
	l.verdict(verdict, j.Enforced)
	for _, warning := range j.Warnings {
		l.line(yellow, "warning: "+Escape(warning))
	}
	return l.out.String()
}

func (l *lines) verdict(v gate.Verdict, enforced bool) {
	suffix := ""
	if !enforced {
		suffix = ", not enforced"
	}
	if v.Decision == state.VerdictApprovalRequired && len(v.Requirements) > 0 {
		for _, need := range v.Requirements {
			l.line(yellow, "policy: approval required"+suffix+" (out-of-band; approvers: "+approvers(need)+")"+after(need.Message))
		}
		return
	}
	word, colour := verdictWord(v.Decision)
	l.line(colour, "policy: "+word+suffix+after(messages(v.Reasons)))
}

func verdictWord(decision string) (word, colour string) {
	switch decision {
	case state.VerdictAllowed:
		return "allowed", green
	case state.VerdictApprovalRequired:
		return "approval required", yellow
	case state.VerdictDenied:
		return "denied", red
	}
	return "could not decide", red
}

// after is a message behind a colon, if there is one.
func after(message string) string {
	if message == "" {
		return ""
	}
	return ": " + Escape(message)
}

func messages(reasons []policy.Reason) string {
	var all []string
	for _, reason := range reasons {
		all = append(all, reason.Message)
	}
	return strings.Join(all, "; ")
}

func approvers(need gate.Need) string {
	who := Subjects(need.Who)
	if need.Count > 1 {
		who = fmt.Sprintf("%d of %s", need.Count, who)
	}
	if need.Met > 0 {
		who += fmt.Sprintf("; %d of %d given", need.Met, need.Count)
	}
	return who
}

// Subjects are people as text: group:sre or user:alice.
func Subjects(who policy.Subjects) string {
	var all []string
	for _, group := range who.Groups {
		all = append(all, "group:"+group)
	}
	for _, user := range who.Users {
		all = append(all, "user:"+user)
	}
	if len(all) == 0 {
		return "nobody"
	}
	return Escape(strings.Join(all, " or "))
}

func (l *lines) decisions(all []approval.Checked) {
	for _, d := range all {
		text := fmt.Sprintf("%s by %s (%s)", Past(d.Predicate.Action), d.Predicate.Person.Username, d.Fingerprint)
		if d.Predicate.Emergency {
			text += ", emergency"
		}
		if d.KeyOwner != "" && d.Record.Created.Sub(d.KeyFrom) < gate.Youth {
			text += ", young key"
		}
		if d.Counts && !d.Attested {
			text += ", signed only"
		}
		switch {
		case !d.Counts:
			l.line(yellow, "  "+Escape(text+" does not count: "+strings.TrimSuffix(d.Reason+": "+d.Detail, ": ")))
		case d.Expires.IsZero():
			l.line(plain, "  "+Escape(text+because(d.Predicate.Reason)))
		default:
			l.line(plain, "  "+Escape(text+", until "+Time(d.Expires)+because(d.Predicate.Reason)))
		}
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// Past is the action of a decision or review as what was done.
func Past(action string) string {
	switch action {
	case state.ActionApprove:
		return "approved"
	case state.ActionReject:
		return "rejected"
	case state.ActionRevoke:
		return "revoked"
	case approval.ActionReview:
		return "reviewed"
	}
	return "unreadable decision"
}

// Time is a time for people, in UTC.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// maxStale is how many differences are listed, unless Style.Full.
const maxStale = 30

func (l *lines) stale(r *gate.Result) {
	if r.StaleRequest == nil {
		return
	}
	l.line(yellow, fmt.Sprintf("stale: the approval of %s (#%d) does not cover this plan:", Escape(r.StaleRequest.ID), r.StaleRequest.Number))
	for i, s := range r.Stale {
		if i == maxStale && !l.style.Full {
			l.line(faint, "  … "+count(len(r.Stale)-maxStale, "more", "more"))
			return
		}
		parts := []string{s.Cause}
		if s.Object != (manifest.Key{}) {
			parts = append(parts, Object(s.Object))
		}
		if s.Path != "" {
			parts = append(parts, s.Path)
		}
		text := strings.Join(parts, " ") + because(s.Message)
		if s.Manager != "" {
			text += " (by " + s.Manager
			if !s.Time.IsZero() {
				text += ", " + Time(s.Time)
			}
			text += ")"
		}
		l.line(plain, "  "+Escape(text))
	}
}
