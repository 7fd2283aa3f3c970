package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/changeward/changeward/state"
)

// Outcome writes down what became of a request, as the next of its outcomes:
// who, when, which request and which sequence is filled in. It is how an apply,
// a verification and a reconciliation leave their mark.
func (g *Gate) Outcome(ctx context.Context, request *Request, outcome state.Outcome) error {
	if err := outcome.Check(); err != nil {
		return err
	}
	now, err := g.Store.Now(ctx)
	if err != nil {
		return fmt.Errorf("read the server's clock: %w", err)
	}
	outcome.Sequence = 1
	if n := len(request.Outcomes); n > 0 {
		outcome.Sequence = request.Outcomes[n-1].Sequence + 1
	}
	for range attempts {
		if err = g.note(ctx, request, outcome, now); !errors.Is(err, state.ErrExists) {
			return err
		}
		outcome.Sequence++
	}
	return err
}

// note writes an outcome under its sequence. ErrExists: that is taken.
func (g *Gate) note(ctx context.Context, request *Request, outcome state.Outcome, now time.Time) error {
	outcome.Actor, outcome.ClusterUID, outcome.Number, outcome.Time = g.Caller, g.ClusterUID, request.Number, stamp(now)
	_, err := g.create(ctx, draft{t: state.TypeOutcome, name: state.OutcomeName(request.Number, outcome.Sequence),
		subject: request.ID, hash: request.Hash, scope: request.Header.Scope, predicate: outcome, signer: g.Signer})
	if err == nil {
		request.Outcomes = append(request.Outcomes, outcome)
	}
	return err
}
