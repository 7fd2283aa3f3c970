package gate

import (
	"context"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// spendDone records, for each approved request of this scope whose every
// change is now `none`, or whose deleted objects are gone, that it was applied: its approval is used up. It is
// the one record that an empty plan writes, and it is written once.
func (r *run) spendDone(ctx context.Context) error {
	unchanged := untouched(r.in.Plan)
	for i := range r.ledger.requests {
		request := &r.ledger.requests[i]
		if request.Status != Approved || request.Header.Scope != r.in.Header.Scope || request.Hash == r.in.Plan.Hash {
			continue
		}
		stored, _, _, err := r.Stored(ctx, *request)
		if err != nil {
			return err
		}
		all, err := done(stored, unchanged, r.gone(ctx))
		if err != nil {
			return err
		}
		if !all {
			continue
		}
		if err := r.outcome(ctx, request, state.Outcome{Observed: true, Result: state.ResultApplied}); err != nil {
			return err
		}
		request.Status = Applied
	}
	return nil
}

// done says that all that a plan would have changed is as it should be now. A
// plan of hooks alone leaves nothing to observe.
func done(stored *plan.Plan, unchanged map[manifest.Key]bool, gone func(plan.Body) (bool, error)) (bool, error) {
	any := false
	for _, c := range stored.Changes {
		if isHook(c) {
			continue
		}
		if ok, err := isDone(c, unchanged, gone); !ok || err != nil {
			return false, err
		}
		any = true
	}
	return any, nil
}

// outcome writes down what became of a request.
func (r *run) outcome(ctx context.Context, request *Request, outcome state.Outcome) error {
	outcome.Actor, outcome.ClusterUID, outcome.Number = r.Caller, r.ClusterUID, request.Number
	outcome.Sequence, outcome.Time = r.ledger.nextOutcome(request), stamp(r.ledger.now)
	_, err := r.create(ctx, draft{t: state.TypeOutcome, name: state.OutcomeName(request.Number, outcome.Sequence),
		subject: request.ID, hash: request.Hash, scope: request.Header.Scope, predicate: outcome, signer: r.Signer})
	if err == nil {
		request.Outcomes = append(request.Outcomes, outcome)
	}
	return err
}
