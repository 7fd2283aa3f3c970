package gate

import (
	"context"
	"slices"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// settledHooks are the digests of hooks that need no new answer: those of the
// latest allowed plan of the scope, if people approved that. An entry that says
// "allowed" proves nothing by itself: who may propose may write one. Where
// policy is said to have allowed the plan, its hooks are settled only if they
// were before; what policy allows now it allows again.
func (g *Gate) settledHooks(ctx context.Context, l *Ledger, scope string) ([]string, error) {
	var settled []string
	allowed := l.allowedIn(scope)
	for i, e := range slices.Backward(allowed) {
		at := slices.IndexFunc(l.requests, func(r Request) bool { return r.Number == e.Request && r.Hash == e.PlanHash })
		if at < 0 || l.requests[at].Void != "" {
			return nil, nil // archived, or no longer to be believed: ask again
		}
		stored, _, _, err := g.Stored(ctx, l.requests[at])
		if err != nil {
			return nil, err
		}
		settled = slices.DeleteFunc(hooksOf(stored), func(d string) bool {
			return i < len(allowed)-1 && !slices.Contains(settled, d)
		})
		if len(settled) == 0 || l.wasApproved(&l.requests[at], stored) {
			return settled, nil
		}
	}
	return nil, nil
}

// allowedIn are the entries of a scope that let a plan pass, oldest first.
func (l *Ledger) allowedIn(scope string) []entry {
	return slices.DeleteFunc(slices.Clone(l.audit), func(e entry) bool {
		return e.Scope != scope || e.Verdict != state.VerdictAllowed || e.NotEnforced
	})
}

func hooksOf(p *plan.Plan) []string {
	var digests []string
	for _, c := range p.Changes {
		if isHook(c) {
			digests = append(digests, c.Digest)
		}
	}
	return digests
}

// wasApproved says whether people approved a request, though that may have
// been used up or have expired since. Every hook is judged, as if none were
// settled.
func (l *Ledger) wasApproved(r *Request, stored *plan.Plan) bool {
	judgement := l.policy.Judge(l.input(stored, r.Header, ""))
	result := approval.Count(l.facts(r, judgement.Requirements), r.decisions)
	return result.Approved || result.Expired
}
