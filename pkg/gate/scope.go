package gate

import (
	"context"
	"slices"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// relate finds out which plans that passed in a request's scope have nothing to
// do with it. A scope is only a name, which anyone who proposes may say: so
// another proposer's plan uses up an approval only if it changes something where
// the approved plan does. Who plans nothing in a team's namespaces, which takes
// rights there, cannot spend its approvals. What somebody says with a key of
// their own of a plan that is not there spends nothing either: a gate's word does.
func (g *Gate) relate(ctx context.Context, l *Ledger, r *Request) error {
	r.foreign = map[int]bool{}
	if !slices.ContainsFunc(r.decisions, approves) {
		return nil
	}
	var own map[string]bool
	for _, e := range l.audit {
		if e.Scope != r.Header.Scope || e.Request == r.Number || !passed(e.Audit) {
			continue
		}
		other := slices.IndexFunc(l.requests, func(o Request) bool { return o.Number == e.Request && o.Hash == e.PlanHash && o.Void == "" })
		if other < 0 {
			r.foreign[e.Number] = !e.byGate && e.Actor.Username != r.Header.Proposer.Username
			continue
		}
		if l.requests[other].Header.Proposer.Username == r.Header.Proposer.Username {
			continue
		}
		theirs, err := g.places(ctx, l.requests[other])
		if err != nil {
			continue // what cannot be read any more spends, as it did before
		}
		if own == nil {
			if own, err = g.places(ctx, *r); err != nil {
				return err
			}
		}
		r.foreign[e.Number] = disjoint(own, theirs)
	}
	return ctx.Err()
}

// places are the namespaces in which a request changes something, and the
// objects of the cluster that it changes.
func (g *Gate) places(ctx context.Context, r Request) (map[string]bool, error) {
	stored, _, _, err := g.Stored(ctx, r)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, c := range stored.Changes {
		out[place(c.Body)] = true
	}
	return out, nil
}

func place(b plan.Body) string {
	key := b.Key()
	switch {
	case key.Namespace != "":
		return key.Namespace
	case key.Group == "" && key.Kind == "Namespace":
		return key.Name
	}
	return key.String()
}

func disjoint(a, b map[string]bool) bool {
	for place := range a {
		if b[place] {
			return false
		}
	}
	return true
}

// approves says that a decision is an approval that could be read.
func approves(d approval.Decision) bool {
	return d.Void == "" && d.Predicate.Action == state.ActionApprove
}
