package render

import (
	"fmt"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/policy"
)

// PolicyDiff answers `policy diff -o json`: the recorded plans that a draft
// would judge otherwise than the policy in force, the newest first.
type PolicyDiff struct {
	Type
	PolicyVersion int              `json:"policyVersion"` // the one in force
	Replayed      int              `json:"replayed"`      // recorded plans that were judged
	Differences   []PolicyDiffItem `json:"differences"`
}

// PolicyDiffItem is one change request. Error says why its plan could not be
// judged; then there is neither before nor after.
type PolicyDiffItem struct {
	Change ChangeRef    `json:"change"`
	Scope  string       `json:"scope"`
	Before *DraftAnswer `json:"before,omitempty"`
	After  *DraftAnswer `json:"after,omitempty"`
	Error  string       `json:"error,omitempty"`
}

// DraftAnswer is what a policy says of a plan, before any approval.
type DraftAnswer struct {
	Enforced bool    `json:"enforced"`
	Verdict  Verdict `json:"verdict"`
}

// PolicyDiffDocument is the JSON form of a replay.
func PolicyDiffDocument(version int, all []gate.Replayed) PolicyDiff {
	document := PolicyDiff{Type: Head(KindPolicyDiff), PolicyVersion: version, Differences: []PolicyDiffItem{}}
	for _, r := range all {
		if r.Err == nil {
			document.Replayed++
		}
		if !r.Differs() {
			continue
		}
		item := PolicyDiffItem{Change: *changeRef(&r.Request), Scope: r.Request.Header.Scope}
		if r.Err != nil {
			item.Error = r.Err.Error()
		} else {
			item.Before, item.After = draftAnswer(r.Before), draftAnswer(r.After)
		}
		document.Differences = append(document.Differences, item)
	}
	return document
}

func draftAnswer(j policy.Judgement) *DraftAnswer {
	verdict := gate.Verdict{Decision: j.Verdict, Reasons: j.Reasons}
	for _, requirement := range j.Requirements {
		verdict.Requirements = append(verdict.Requirements, gate.Need{Requirement: requirement})
	}
	return &DraftAnswer{Enforced: j.Enforced, Verdict: verdictDocument(verdict)}
}

// PolicyDiff is a replay as text.
func (s Style) PolicyDiff(version int, all []gate.Replayed) string {
	l := &lines{style: s}
	differ, judged := 0, 0
	for _, r := range all {
		if r.Err == nil {
			judged++
		}
		if !r.Differs() {
			continue
		}
		differ++
		l.line(bold, fmt.Sprintf("#%d %s %s", r.Request.Number, Escape(r.Request.ID), Escape(r.Request.Header.Scope)))
		if r.Err != nil {
			l.line(red, indent+"cannot be judged: "+Escape(r.Err.Error()))
			continue
		}
		l.line(plain, indent+"now    "+Escape(answered(r.Before)))
		l.line(plain, indent+"draft  "+Escape(answered(r.After)))
	}
	l.line(plain, fmt.Sprintf("%d of %d recorded plans get another answer than under policy version %d", differ-len(all)+judged, judged, version))
	if unread := len(all) - judged; unread > 0 {
		l.line(red, fmt.Sprintf("%d recorded plans could not be judged", unread))
	}
	return l.out.String()
}

func answered(j policy.Judgement) string {
	text := j.Verdict
	if len(j.Requirements) > 0 {
		text += ": " + j.Asks()
	}
	for _, reason := range j.Reasons {
		text += because(reason.Message)
		break
	}
	if !j.Enforced {
		text += ", not enforced"
	}
	return text
}
