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
		if request.Status != Approved && !(request.Status == AutoApproved && request.Begun()) || request.Header.Scope != r.in.Header.Scope || request.Hash == r.in.Plan.Hash {
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

// Begun says that an apply of it began, and did not end with all written.
func (r *Request) Begun() bool {
	n := len(r.Outcomes)
	return n > 0 && r.Outcomes[n-1].Unfinished()
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

// outcome writes down what became of a request, once, whoever else is at it.
func (r *run) outcome(ctx context.Context, request *Request, outcome state.Outcome) error {
	outcome.Sequence = r.ledger.nextOutcome(request)
	return r.note(ctx, request, outcome, r.ledger.now)
}
