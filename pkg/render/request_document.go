package render

import (
	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/state"
)

// ChangeRequest is one change request; `show` adds the plan.
type ChangeRequest struct {
	Type
	ID        string        `json:"id"`
	Number    int           `json:"number"`
	Status    string        `json:"status"`
	Hash      string        `json:"hash"`
	PlanID    string        `json:"planID"`
	Scope     string        `json:"scope"`
	Created   string        `json:"created"`
	Expires   string        `json:"expires,omitempty"`
	Proposer  state.Person  `json:"proposer"`
	Author    *state.Author `json:"author"`
	Revision  string        `json:"revision,omitempty"`
	CI        string        `json:"ci,omitempty"`
	Reason    string        `json:"reason,omitempty"`
	Ticket    string        `json:"ticket,omitempty"`
	Target    string        `json:"target,omitempty"`
	Sources   []string      `json:"sources"`
	SignedBy  string        `json:"signedBy"`
	Decisions []Decision    `json:"decisions"`
	Outcomes  []Outcome     `json:"outcomes"`
	Emergency *Emergency    `json:"emergency,omitempty"`
	Void      *Reason       `json:"void,omitempty"` // why the record cannot be used
	Plan      *Plan         `json:"plan,omitempty"`
}

// ChangeRequestList answers `list -o json`, newest first.
type ChangeRequestList struct {
	Type
	Items []ChangeRequest `json:"items"`
}

// Decision is a person's answer, and whether it counts.
type Decision struct {
	Record    string   `json:"record"`
	Action    string   `json:"action"`
	Person    string   `json:"person"`
	Groups    []string `json:"groups,omitempty"`
	Time      string   `json:"time"`
	Expires   string   `json:"expires,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	Ticket    string   `json:"ticket,omitempty"`
	Emergency bool     `json:"emergency,omitempty"`
	Key       string   `json:"key"` // fingerprint
	Counts    bool     `json:"counts"`
	Signed    bool     `json:"signed"`
	Attested  bool     `json:"attested"`
	Why       *Reason  `json:"why,omitempty"` // why it does not count
}

// Emergency is an approval that broke the glass, and who has looked at it since.
type Emergency struct {
	By         string `json:"by"`
	Reason     string `json:"reason"`
	At         string `json:"at"`
	Due        string `json:"due"` // by when another person is to review it
	Reviewed   bool   `json:"reviewed"`
	ReviewedBy string `json:"reviewedBy,omitempty"`
	ReviewedAt string `json:"reviewedAt,omitempty"`
	Review     string `json:"review,omitempty"` // what the reviewer found
}

func emergencyDocument(e *gate.Emergency) *Emergency {
	if e == nil {
		return nil
	}
	document := &Emergency{By: e.By, Reason: e.Reason, At: stamp(e.At), Due: stamp(e.Due)}
	if d := e.Reviewed; d != nil {
		document.Reviewed, document.ReviewedBy, document.ReviewedAt = true, d.Predicate.Person.Username, stamp(d.Record.Created)
		document.Review = d.Predicate.Reason
	}
	return document
}

// Outcome is what became of an allowed plan.
type Outcome struct {
	Result   string `json:"result"`
	Observed bool   `json:"observed,omitempty"`
	Actor    string `json:"actor"`
	Time     string `json:"time"`
	// Plan is the hash of what was left, where that passed or was applied.
	Plan     string               `json:"plan,omitempty"`
	Revision string               `json:"revision,omitempty"` // of Git, where it was found reconciled
	Objects  []state.ObjectResult `json:"objects,omitempty"`
}

// RequestDocument is the JSON form of a change request. view is its recorded
// plan; nil leaves it out.
func RequestDocument(r gate.Request, view *PlanView) ChangeRequest {
	document := ChangeRequest{
		Type: Head(KindChangeRequest), ID: r.ID, Number: r.Number, Status: string(r.Status), Hash: r.Hash,
		PlanID: state.PlanID(r.Hash), Scope: r.Header.Scope, Created: stamp(r.Created), Expires: stamp(r.Expires),
		Proposer: r.Header.Proposer, Author: r.Header.Author, Revision: r.Header.Revision, CI: r.Header.CI,
		Reason: r.Header.Reason, Ticket: r.Header.Ticket, Target: r.Header.Target, Sources: list(r.Header.Sources),
		SignedBy: r.SignedBy, Decisions: []Decision{}, Outcomes: []Outcome{},
	}
	for _, d := range r.Decisions {
		document.Decisions = append(document.Decisions, decisionDocument(d))
	}
	for _, o := range r.Outcomes {
		document.Outcomes = append(document.Outcomes, Outcome{Result: o.Result, Observed: o.Observed, Actor: o.Actor.Username, Time: o.Time,
			Plan: o.Plan, Revision: o.Revision, Objects: o.Objects})
	}
	document.Emergency = emergencyDocument(r.Emergency)
	if r.Void != "" {
		document.Void = &Reason{Reason: r.Void, Message: r.Detail}
	}
	if view != nil {
		p := PlanDocument(*view)
		document.Plan = &p
	}
	return document
}

// RequestListDocument is the JSON form of several change requests.
func RequestListDocument(requests []gate.Request) ChangeRequestList {
	document := ChangeRequestList{Type: Head(KindChangeRequestList), Items: []ChangeRequest{}}
	for _, r := range requests {
		document.Items = append(document.Items, RequestDocument(r, nil))
	}
	return document
}

func decisionDocument(d approval.Checked) Decision {
	p := d.Predicate
	document := Decision{
		Record: d.Record.Name, Action: p.Action, Person: p.Person.Username, Groups: p.Person.Groups, Time: p.Time,
		Expires: stamp(d.Expires), Reason: p.Reason, Ticket: p.Ticket, Emergency: p.Emergency, Key: d.Fingerprint,
		Counts: d.Counts, Signed: d.Signed, Attested: d.Attested,
	}
	if !d.Counts {
		document.Why = &Reason{Reason: d.Reason, Message: d.Detail}
	}
	return document
}
