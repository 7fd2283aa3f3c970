package gate

import (
	"context"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// spendDone records, for each approved request of this scope whose every
// change is now `none`, that it was applied: its approval is used up. It is
// the one record that an empty plan writes, and it is written once.
func (r *run) spendDone(ctx context.Context) error {
	unchanged := map[manifest.Key]bool{}
	for _, c := range r.in.Plan.Unchanged {
		unchanged[c.Body.Key()] = true
	}
	for i := range r.ledger.requests {
		request := &r.ledger.requests[i]
		if request.Status != Approved || request.Header.Scope != r.in.Header.Scope || request.Hash == r.in.Plan.Hash {
			continue
		}
		stored, _, _, err := r.Stored(ctx, *request)
		if err != nil {
			return err
		}
		if done(stored, unchanged) {
			if err := r.observeApplied(ctx, request); err != nil {
				return err
			}
		}
	}
	return nil
}

// done says that all that a plan would have changed is unchanged now. A plan
// of hooks alone leaves nothing to observe.
func done(stored *plan.Plan, unchanged map[manifest.Key]bool) bool {
	any := false
	for _, c := range stored.Changes {
		if c.Body.Operation == plan.Hook {
			continue
		}
		if !unchanged[c.Body.Key()] {
			return false
		}
		any = true
	}
	return any
}

func (r *run) observeApplied(ctx context.Context, request *Request) error {
	outcome := state.Outcome{Actor: r.Caller, ClusterUID: r.ClusterUID, Number: request.Number, Observed: true,
		Result: state.ResultApplied, Sequence: r.ledger.nextOutcome(request), Time: stamp(r.ledger.now)}
	_, err := r.create(ctx, draft{t: state.TypeOutcome, name: state.OutcomeName(request.Number, outcome.Sequence),
		subject: request.ID, hash: request.Hash, scope: request.Header.Scope, predicate: outcome, signer: r.Signer})
	if err != nil {
		return err
	}
	request.Outcomes = append(request.Outcomes, outcome)
	request.Status = Applied
	return nil
}
