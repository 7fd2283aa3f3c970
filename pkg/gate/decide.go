package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// DecideInput is a person's answer to one request.
type DecideInput struct {
	Request   Request
	Action    string // state.ActionApprove, …Reject, …Revoke
	Reason    string
	Ticket    string
	Emergency bool
	Signer    sign.Signer
	// First says that the signer is the caller's first key, and is enrolled once
	// everything else is known to hold.
	First bool
}

// Decide signs and stores a decision. It does not ask: the caller has shown
// the plan. A decision that would not count is refused, with the reason it
// would have been void for. An approval that says no more than one that stands
// is not written again: that one is returned.
func (g *Gate) Decide(ctx context.Context, l *Ledger, in DecideInput) (state.Record, error) {
	if err := decidable(in.Request); err != nil {
		return state.Record{}, err
	}
	stored, _, _, err := g.Stored(ctx, in.Request)
	if err != nil {
		return state.Record{}, err
	}
	judgement, err := g.judge(ctx, l, stored, in.Request.Header, "")
	if err != nil {
		return state.Record{}, err
	}
	if in.Action == state.ActionApprove {
		if err := approvable(in.Request, judgement); err != nil {
			return state.Record{}, err
		}
	}
	d, err := g.decision(ctx, l, in, judgement.Requirements)
	if err != nil {
		return state.Record{}, err
	}
	if standing, err := l.wouldCount(g, in, d, judgement.Requirements); standing.Name != "" || err != nil {
		return standing, err
	}
	if err := g.enrollFirst(ctx, l, in.Signer, in.First); err != nil {
		return state.Record{}, err
	}
	record, err := g.create(ctx, draft{t: state.TypeDecision, subject: in.Request.ID, hash: in.Request.Hash,
		scope: in.Request.Header.Scope, predicate: d, groups: d.Person.Groups, signer: in.Signer})
	if name, taken := lostRace(err); taken { // its name is its content: the same was said in this second
		return g.Store.Get(ctx, state.TypeDecision, name)
	}
	return record, err
}

func decidable(r Request) error {
	switch {
	case r.Void != "":
		return &Fault{Reason: r.Void, Message: fmt.Sprintf("%s cannot be decided on: %s", r.ID, r.Detail)}
	case r.finished() != "":
		return notEligible("%s is %s already", r.ID, r.Status)
	}
	return nil
}

// approvable refuses an approval that could change nothing.
func approvable(r Request, judgement policy.Judgement) error {
	switch {
	case judgement.Verdict == state.VerdictDenied:
		return notEligible("policy denies this plan: %s", reasonsText(judgement.Reasons))
	case judgement.Verdict == state.VerdictAllowed:
		return notEligible("%s needs no approval: policy allows it", r.ID)
	case r.Status == Rejected:
		return notEligible("%s was rejected, and no approval of the same number changes that", r.ID)
	}
	return nil
}

func (g *Gate) decision(ctx context.Context, l *Ledger, in DecideInput, requirements []policy.Requirement) (state.Decision, error) {
	now, err := g.Store.Now(ctx)
	if err != nil {
		return state.Decision{}, fmt.Errorf("read the server's clock: %w", err)
	}
	d := state.Decision{Action: in.Action, ClusterUID: g.ClusterUID, Emergency: in.Emergency, Number: in.Request.Number,
		Person: state.Person{Username: g.Caller.Username, Groups: l.relevant(g.Caller.Groups, requirements)},
		Reason: in.Reason, Ticket: in.Ticket, Time: stamp(now)}
	switch in.Action {
	case state.ActionApprove:
		d.Expires = stamp(now.Add(l.policy.Approvals.ExpireAfter))
	case state.ActionRevoke:
		d.Revokes, err = ownApproval(in.Request, g.Caller.Username)
	}
	return d, err
}

// relevant are the groups of a person that a requirement, the emergency rule
// or the admins' rule asks for.
func (l *Ledger) relevant(groups []string, requirements []policy.Requirement) []string {
	asked := slices.Concat(l.policy.Emergency.Groups, l.policy.Admins.Groups)
	for _, r := range requirements {
		asked = append(asked, r.Who.Groups...)
	}
	out := slices.DeleteFunc(slices.Clone(groups), func(s string) bool { return !slices.Contains(asked, s) })
	slices.Sort(out)
	return slices.Compact(out)
}

func ownApproval(r Request, username string) (string, error) {
	var newest state.Record
	for _, c := range r.Decisions {
		if c.Counts && c.Predicate.Action == state.ActionApprove && c.Predicate.Person.Username == username &&
			!c.Record.Created.Before(newest.Created) {
			newest = c.Record
		}
	}
	if newest.Name == "" {
		return "", notEligible("%s has no approval of %s to take back", username, r.ID)
	}
	return newest.Name, nil
}

// wouldCount counts the decisions with this one among them, as the next gate
// run will. standing is the approval of the same person that makes this one
// needless, if there is one.
func (l *Ledger) wouldCount(g *Gate, in DecideInput, d state.Decision, requirements []policy.Requirement) (standing state.Record, err error) {
	request := in.Request
	request.decisions = append(slices.Clone(request.decisions), l.trial(g, in, d))
	checked := l.count(&request, requirements).Checked
	trial := checked[slices.IndexFunc(checked, func(c approval.Checked) bool { return c.Record.Name == trialName })]
	if trial.Counts {
		return state.Record{}, nil
	}
	for _, c := range checked {
		if trial.Reason == approval.AlreadyCounted && c.Counts && c.Predicate.Action == d.Action &&
			c.Predicate.Emergency == d.Emergency && c.Predicate.Person.Username == d.Person.Username {
			return c.Record, nil
		}
	}
	return state.Record{}, &Fault{Reason: trial.Reason, Message: fmt.Sprintf("your %s of %s would not count: %s", noun(in.Action), request.ID, explain(trial))}
}

// trial is a decision as the gate would read it once it is stored.
func (l *Ledger) trial(g *Gate, in DecideInput, d state.Decision) approval.Decision {
	fingerprint := fingerprintOf(in.Signer.PublicKey())
	owner, _ := l.book.Ring.Lookup(fingerprint)
	if in.First {
		owner = sign.Entry{Person: g.Caller.Username, From: l.now}
	}
	trial := approval.Decision{Predicate: d, Name: in.Request.ID, Hash: in.Request.Hash, Fingerprint: fingerprint,
		Record: state.Record{Name: trialName, Created: l.now, Immutable: true, Type: state.TypeDecision,
			Claims: state.Claims{Actor: g.Caller.Username, Groups: d.Person.Groups, PlanHash: in.Request.Hash}}}
	if owner.Person != "" {
		l.signedWith(&trial, owner)
	}
	return trial
}

func noun(action string) string {
	switch action {
	case state.ActionApprove:
		return "approval"
	case state.ActionReject:
		return "rejection"
	}
	return "withdrawal"
}

const trialName = "cw-decision-trial"

func explain(c approval.Checked) string {
	if c.Detail != "" {
		return c.Reason + ": " + c.Detail
	}
	return c.Reason
}

func reasonsText(reasons []policy.Reason) string {
	text := ""
	for i, r := range reasons {
		if i > 0 {
			text += "; "
		}
		text += r.Message
	}
	return text
}

func notEligible(format string, args ...any) error {
	return &Fault{Reason: ReasonNotEligible, Message: fmt.Sprintf(format, args...)}
}
