package render

import (
	"time"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/policy"
)

// GateDocument is the JSON form of a gate's answer.
func GateDocument(view PlanView, r *gate.Result) GateResult {
	document := GateResult{
		Type: Head(KindGateResult), Enforced: r.Enforced, Verdict: verdictDocument(r.Verdict),
		Change: changeRef(r.Request), Plan: PlanDocument(view), PolicyVersion: r.PolicyVersion,
		Resumed: r.Resumed, StaleChange: changeRef(r.StaleRequest), Warnings: r.Warnings, ChainHead: r.ChainHead,
	}
	for _, s := range r.Stale {
		object := ""
		if s.Object != (manifest.Key{}) {
			object = s.Object.String()
		}
		document.Stale = append(document.Stale, Stale{Cause: s.Cause, Object: object, Path: s.Path,
			Manager: s.Manager, Time: stamp(s.Time), Message: s.Message})
	}
	return document
}

// PlanResultDocument is the JSON form of a plan and what policy says of it;
// nil: there is no policy.
func PlanResultDocument(view PlanView, j *policy.Judgement) PlanResult {
	document := PlanResult{Type: Head(KindPlan), Plan: PlanDocument(view)}
	if j != nil {
		verdict := gate.Verdict{Decision: j.Verdict, Reasons: j.Reasons}
		for _, requirement := range j.Requirements {
			verdict.Requirements = append(verdict.Requirements, gate.Need{Requirement: requirement})
		}
		v := verdictDocument(verdict)
		document.Enforced, document.Verdict = j.Enforced, &v
	}
	return document
}

func verdictDocument(v gate.Verdict) Verdict {
	document := Verdict{Decision: v.Decision, Reasons: []Reason{}, Requirements: []Requirement{}}
	for _, reason := range v.Reasons {
		document.Reasons = append(document.Reasons, Reason{Reason: reason.Reason, Message: reason.Message})
	}
	for _, need := range v.Requirements {
		document.Requirements = append(document.Requirements, Requirement{Rule: need.Rule, Groups: need.Who.Groups,
			Users: need.Who.Users, Count: need.Count, Met: need.Met, Message: need.Message})
	}
	return document
}

func changeRef(r *gate.Request) *ChangeRef {
	if r == nil {
		return nil
	}
	return &ChangeRef{ID: r.ID, Number: r.Number, Status: string(r.Status)}
}

// stamp is a time in RFC 3339, UTC; "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
