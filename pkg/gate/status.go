package gate

import (
	"context"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// settle computes the status of a request from its records. Requests with a
// higher number are settled already.
func (g *Gate) settle(ctx context.Context, l *Ledger, r *Request) error {
	switch {
	case r.Void != "":
		r.Status = Invalid
		return nil
	case r.finished() != "":
		r.Status = r.finished()
		return nil
	}
	switch last := r.lastAudit(); {
	case last.Verdict == state.VerdictDenied && last.Reason != ReasonRejected:
		r.Status = Denied
		return nil
	case last.Verdict == state.VerdictAllowed && last.Auto && len(r.decisions) == 0:
		r.Status = AutoApproved
		return nil
	}
	if err := g.review(ctx, l, r); err != nil {
		r.Void, r.Detail, r.Status = ReasonRecordInvalid, err.Error(), Invalid
		l.reject(state.TypePlan, r.record.Name, r.Void, r.Detail)
		return ctx.Err()
	}
	return nil
}

// review judges the recorded plan under the policy in force, counts the
// decisions, and sets the status.
func (g *Gate) review(ctx context.Context, l *Ledger, r *Request) error {
	stored, _, _, err := g.Stored(ctx, *r)
	if err != nil {
		return err
	}
	judgement, err := g.judge(ctx, l, stored, r.Header, "")
	if err != nil {
		return err
	}
	if err := g.relate(ctx, l, r); err != nil {
		return err
	}
	result := l.count(r, judgement.Requirements)
	r.settleWith(result, l.superseded(r))
	if judgement.Verdict == state.VerdictAllowed && !result.Rejected {
		r.Status = AutoApproved
	}
	return nil
}

func (r *Request) settleWith(result approval.Result, superseded bool) {
	r.Decisions = result.Checked
	r.Expires = result.Expires
	switch {
	case result.Rejected:
		r.Status = Rejected
	case result.Approved:
		r.Status = Approved
	case superseded:
		r.Status = Superseded
	case result.Expired:
		r.Status = Expired
	default:
		r.Status = AwaitingApproval
	}
}

// count asks which decisions on a request count, and what they amount to.
func (l *Ledger) count(r *Request, requirements []policy.Requirement) approval.Result {
	return approval.Count(l.facts(r, requirements), l.unspent(r))
}

// facts are what the decisions on a request are judged against.
func (l *Ledger) facts(r *Request, requirements []policy.Requirement) approval.Facts {
	return approval.Facts{Now: l.now, ClusterUID: l.clusterUID, Hash: r.Hash, Number: r.Number, Created: r.Created,
		Proposer: r.Header.Proposer, Author: author(r.Header), Requirements: requirements, Rules: l.policy.Approvals,
		Emergency: l.policy.Emergency, Attested: l.attestedFor(r)}
}

// attested says why the admission fence cannot be relied on for a record
// written then; "" means that it can.
func (l *Ledger) attested(created time.Time) string {
	if l.attestation.Void != "" {
		return l.attestation.Void
	}
	if len(l.epochs) == 0 {
		return ReasonBeforeEpoch
	}
	if created.Before(l.attestation.From) {
		return ReasonBeforeEpoch
	}
	if first, err := time.Parse(time.RFC3339, l.epochs[0].Predicate.Time); err != nil || created.Before(first) {
		return ReasonBeforeEpoch
	}
	return ""
}

// attestedFor is attested for the decisions on a request: they rest on who
// proposed it, so that must be attested as well.
func (l *Ledger) attestedFor(r *Request) func(time.Time) string {
	return func(created time.Time) string {
		if why := l.attested(r.Created); why != "" {
			return why
		}
		return l.attested(created)
	}
}

// outdated says that a request was written before the fence stood as it does
// now, and so can never be approved.
func (l *Ledger) outdated(r *Request) bool {
	return l.policy.Approvals.Identity != policy.IdentitySigned && l.attestation.Void == "" && l.attested(r.Created) != ""
}

// unspent voids the approvals that a later allowed plan of the scope used up.
func (l *Ledger) unspent(r *Request) []approval.Decision {
	last := l.lastPassedBeside(r)
	out := slices.Clone(r.decisions)
	for i, d := range out {
		if approves(d) && !last.IsZero() && !d.Record.Created.After(last) {
			out[i].Void = ReasonApprovalSpent
			out[i].Detail = "a later plan of this scope was allowed"
		}
	}
	return out
}

// lastPassedBeside is when another plan of this scope last passed the gate.
func (l *Ledger) lastPassedBeside(r *Request) time.Time {
	var last time.Time
	for _, e := range l.audit {
		if e.Scope != r.Header.Scope || e.Request == r.Number || !passed(e.Audit) || r.foreign[e.Number] {
			continue
		}
		at, err := time.Parse(time.RFC3339, e.Time)
		if err == nil && at.After(e.at) { // or an entry could spend what is approved years from now
			at = e.at
		}
		if err == nil && at.After(last) {
			last = at
		}
	}
	return last
}

func passed(e state.Audit) bool { return e.Verdict == state.VerdictAllowed || e.NotEnforced }

// spent says that the request was approved once, and that this was used up: by
// being applied, or by a later allowed plan. It then takes a new number.
func (r *Request) spent() bool {
	return r.finished() != "" || slices.ContainsFunc(r.Decisions, func(d approval.Checked) bool {
		return d.Void == ReasonApprovalSpent
	})
}

// superseded says that a newer plan of the scope is pending or was allowed.
func (l *Ledger) superseded(r *Request) bool {
	return slices.ContainsFunc(l.requests, func(other Request) bool {
		return other.Number > r.Number && other.Header.Scope == r.Header.Scope && other.Hash != r.Hash &&
			!slices.Contains([]Status{Invalid, Denied, Rejected}, other.Status)
	})
}

func (r *Request) finished() Status {
	for i := len(r.Outcomes) - 1; i >= 0; i-- {
		switch r.Outcomes[i].Result {
		case state.ResultApplied:
			return Applied
		case state.ResultDiverged:
			return Diverged
		}
	}
	return ""
}

func (r *Request) lastAudit() state.Audit {
	if len(r.Audit) == 0 {
		return state.Audit{}
	}
	return r.Audit[len(r.Audit)-1]
}
