package gate

import (
	"context"

	"github.com/changeward/changeward/pkg/policy"
)

// Replayed is what two policies make of one recorded change request.
type Replayed struct {
	Request Request
	// Before is the judgement of the policy in force, After that of the draft.
	Before, After policy.Judgement
	// Err says why the recorded plan could not be judged; then there is neither.
	Err error
}

// Differs says that the draft gives another verdict, asks other people, or does
// so with or without effect. What could not be judged differs, too: nobody
// knows.
func (r Replayed) Differs() bool {
	return r.Err != nil || r.Before.Verdict != r.After.Verdict || r.Before.Enforced != r.After.Enforced || r.Before.Asks() != r.After.Asks()
}

// Replay judges every recorded plan by the policy in force and by a draft, the
// newest first. Each is judged as of the time when it was recorded, so that the
// expiry of a policy and freezes count as they would have, and as if no hook had
// been allowed before; approvals do not matter. It stops only when ctx ends.
func (g *Gate) Replay(ctx context.Context, l *Ledger, draft *policy.Policy, lane string) ([]Replayed, error) {
	var all []Replayed
	for _, request := range l.Requests() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		replayed := Replayed{Request: request}
		if in, err := g.recordedInput(ctx, l, request, lane); err != nil {
			replayed.Err = err
		} else {
			replayed.Before, replayed.After = l.policy.Judge(in), draft.Judge(in)
		}
		all = append(all, replayed)
	}
	return all, ctx.Err()
}

func (g *Gate) recordedInput(ctx context.Context, l *Ledger, request Request, lane string) (policy.Input, error) {
	if request.Void != "" {
		return policy.Input{}, &Fault{Reason: request.Void, Message: request.Detail}
	}
	stored, _, _, err := g.Stored(ctx, request)
	if err != nil {
		return policy.Input{}, err
	}
	in := l.input(stored, request.Header, lane)
	in.Now = request.Created
	return in, nil
}
