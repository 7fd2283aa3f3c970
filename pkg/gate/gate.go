package gate

import (
	"context"
	"maps"
	"time"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// Gate is the use case over one install: it reads the records, decides and
// records.
type Gate struct {
	Store      state.Store
	ClusterUID string
	Caller     state.Person // as the API server knows the caller
	Credential string       // of this request, where the server names one
	Signer     sign.Signer  // gate key, or the caller's own
	// Attestation tells, for this run, whether the admission fence stands; nil
	// where there is none (records in files).
	Attestation func(ctx context.Context, epochs []state.Epoch) Attestation
	// Gone tells whether the object that a change deletes or replaces, by its
	// UID, is no longer there. Nil: nothing is known to be gone.
	Gone func(ctx context.Context, b plan.Body) (bool, error)
}

// Attestation is what a run found out about the admission fence.
type Attestation struct {
	// Void is the reason constant why records cannot be taken as attested now;
	// "" means that the fence stands.
	Void, Detail string
	// Unknown: it could not be found out, so that Void is no fact about the
	// fence, and nothing that rests on it can be decided.
	Unknown bool
	// From is since when the fence stands as it does: what was written before
	// could have been written while it was down.
	From time.Time
}

// Input is one plan to be judged.
type Input struct {
	Plan *plan.Plan
	// Observations are what the plan was built from: they tell what a change
	// comes from. May be nil.
	Observations []plan.Observation
	// Before is the canonical, redacted LIVE of what is updated or deleted.
	Before []byte
	// Header says scope, sources, author, revision, CI link, reason, ticket and
	// target; the rest of it is filled in by Run.
	Header state.Plan
	Lane   string
	// Refusals are reasons found before, for which nothing may be allowed.
	Refusals []policy.Reason
	Again    bool // ask again, under a new number, after a rejection
	// Only is the id of the one request that may let this plan pass: no other is
	// made or found. "" is any.
	Only string
}

// attempts is how often a run reads again after another gate took the number
// it wanted: far more than the gates that start in one moment.
const attempts = 50

// Run judges a plan, records what changed, and answers. Records are written
// before it returns; with an error nothing is allowed. ledger holds the policy
// that the plan was made under, and may be nil.
func (g *Gate) Run(ctx context.Context, ledger *Ledger, in Input) (*Result, error) {
	in.Header.Proposer, in.Header.ClusterUID = g.Caller, g.ClusterUID
	refused, madeUnder := map[string]bool{}, ledger
	if ledger != nil && !ledger.extent.whole() {
		ledger = nil
	}
	for range attempts {
		var err error
		if ledger == nil {
			if ledger, err = g.LoadFor(ctx, in.Header.Scope, in.Plan.Hash); err != nil {
				return nil, err
			}
		}
		if madeUnder != nil && len(madeUnder.policies) != len(ledger.policies) {
			return nil, &Fault{Reason: ReasonContended, Message: "the policy changed while this plan was made; run it again"}
		}
		maps.Copy(ledger.names, refused)
		result, err := (&run{Gate: g, ledger: ledger, in: in}).decide(ctx)
		name, lost := lostRace(err)
		if !lost {
			return result, err
		}
		// What is there now may be no record, and so in no list.
		refused[name], ledger = true, nil
	}
	return nil, &Fault{Reason: ReasonContended, Message: "other gates kept writing records at the same moment; run it again"}
}
