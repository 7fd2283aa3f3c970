package gate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// resume answers a plan that is what is left of an approved one: a sync that
// stopped half-way, or a namespace that had to be there first. Nil means that
// it is not. The pass is an outcome of the approved plan's request: it takes no
// number, is no later allowed plan, and spends nothing.
func (r *run) resume(ctx context.Context) (*Result, error) {
	request, counted, err := r.resumable(ctx)
	if request == nil || err != nil || r.in.Only != "" && request.ID != r.in.Only {
		return nil, err
	}
	if err := r.recordResumed(ctx, request); err != nil {
		return nil, err
	}
	r.result.Resumed, r.result.Request = true, request
	r.result.Verdict = Verdict{Decision: state.VerdictAllowed, Requirements: needs(r.result.Judgement.Requirements, counted.Met),
		Reasons: []policy.Reason{{Reason: ReasonResumed, Message: fmt.Sprintf(
			"this is what is left of %s (#%d), %s", request.ID, request.Number, approvers(counted))}}}
	return &r.result, nil
}

// resumable finds the newest approved plan of the scope that is alike but for
// its changes, and says whether it covers this one. Older ones are not tried.
func (r *run) resumable(ctx context.Context) (*Request, approval.Result, error) {
	for i := len(r.ledger.requests) - 1; i >= 0; i-- {
		request := r.ledger.requests[i]
		if request.Status != Approved || request.Header.Scope != r.in.Header.Scope || r.ledger.outdated(&request) || !r.sameRevision(&request) {
			continue
		}
		approved, _, _, err := r.Stored(ctx, request)
		if err != nil {
			return nil, approval.Result{}, err
		}
		if !frames(approved, r.in.Plan) {
			continue
		}
		counted := approval.Result{Approved: true, Checked: request.Decisions}
		if asked := r.result.Judgement.Requirements; len(asked) > 0 {
			counted = r.ledger.count(&request, asked)
		}
		if !counted.Approved || !r.ledger.untouchedSince(&request, counted) {
			return nil, approval.Result{}, nil
		}
		covered, err := r.cover(ctx, approved).holds()
		if !covered || err != nil {
			return nil, approval.Result{}, err
		}
		return &request, counted, nil
	}
	return nil, approval.Result{}, nil
}

func (r *run) cover(ctx context.Context, approved *plan.Plan) cover {
	return cover{approved: approved, current: r.in.Plan, gone: r.gone(ctx),
		allowed: func(i int) bool {
			judged := r.result.Judgement.Changes
			return i < len(judged) && judged[i].Decision == policy.Allow
		}}
}

// gone asks the cluster; where it cannot be asked, nothing is gone.
func (r *run) gone(ctx context.Context) func(plan.Body) (bool, error) {
	return func(b plan.Body) (bool, error) {
		if r.Gone == nil {
			return false, nil
		}
		gone, err := r.Gone(ctx, b)
		if err != nil {
			return false, fmt.Errorf("see whether %s is gone: %w", b.Key(), err)
		}
		return gone, nil
	}
}

// untouchedSince says that since the first of the approvals that count for a
// request, no other plan of its scope was approved, even by one person, nor
// applied or rolled back. What passed the gate since has used up the approvals
// anyway.
func (l *Ledger) untouchedSince(request *Request, counted approval.Result) bool {
	since := firstApproval(counted)
	if since.IsZero() {
		return false
	}
	for i := range l.requests {
		other := &l.requests[i]
		if other.Header.Scope != request.Header.Scope {
			continue
		}
		own := other.Number == request.Number
		if l.outcomeSince(other, since, own) || !own && approvedSince(other, since) {
			return false
		}
	}
	return true
}

func firstApproval(counted approval.Result) time.Time {
	var first time.Time
	for _, c := range counted.Checked {
		if at := c.Record.Created; c.Counts && c.Predicate.Action == state.ActionApprove && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// approvedSince takes every approval that could be read, whether it counts or
// not: a doubt costs one more approval.
func approvedSince(r *Request, since time.Time) bool {
	return slices.ContainsFunc(r.decisions, func(d approval.Decision) bool {
		return approves(d) && !d.Record.Created.Before(since)
	})
}

// outcomeSince says that a request was, since then, finished, or, where it is
// another than the one at hand, begun.
func (l *Ledger) outcomeSince(r *Request, since time.Time, own bool) bool {
	return slices.ContainsFunc(r.Outcomes, func(o state.Outcome) bool {
		at, err := time.Parse(time.RFC3339, o.Time)
		late := err != nil || !at.Before(since.Truncate(time.Second))
		return late && o.Result != state.ResultResumed && !(own && o.Unfinished())
	})
}

// recordResumed writes the pass down, once for each plan that passes so.
func (r *run) recordResumed(ctx context.Context, request *Request) error {
	hash := r.in.Plan.Hash
	if slices.ContainsFunc(request.Outcomes, func(o state.Outcome) bool {
		return o.Result == state.ResultResumed && o.Plan == hash
	}) {
		return nil
	}
	return r.outcome(ctx, request, state.Outcome{Result: state.ResultResumed, Plan: hash})
}
