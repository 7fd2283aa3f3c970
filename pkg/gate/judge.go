package gate

import (
	"context"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// PolicyInput is what policy sees of a plan that this header belongs to.
func (g *Gate) PolicyInput(ctx context.Context, l *Ledger, p *plan.Plan, header state.Plan, lane string) (policy.Input, error) {
	in := policy.Input{Plan: p, Proposer: header.Proposer, Author: author(header), Revision: header.Revision, Lane: lane, Now: l.now}
	var err error
	if slices.ContainsFunc(p.Changes, isHook) {
		in.SettledHooks, err = g.settledHooks(ctx, l, header.Scope)
	}
	return in, err
}

// judge asks policy about a plan that this header belongs to.
func (g *Gate) judge(ctx context.Context, l *Ledger, p *plan.Plan, header state.Plan, lane string) (policy.Judgement, error) {
	in, err := g.PolicyInput(ctx, l, p, header, lane)
	return l.policy.Judge(in), err
}

// author is the person behind a plan: as the forge names them, else the
// proposer, where that is a person at a laptop; empty where nobody knows.
func author(header state.Plan) state.Person {
	switch {
	case header.Author != nil:
		return state.Person{Username: header.Author.Name}
	case !strings.HasPrefix(header.Proposer.Username, "system:"):
		return header.Proposer
	}
	return state.Person{}
}

func isHook(c plan.Change) bool { return c.Body.Operation == plan.Hook }

// settledHooks are the digests of the hooks in the latest plan of the scope
// that passed: the same hook again needs no new answer.
func (g *Gate) settledHooks(ctx context.Context, l *Ledger, scope string) ([]string, error) {
	for _, e := range slices.Backward(l.audit) {
		if e.Scope != scope || !passed(e.Audit) {
			continue
		}
		i := slices.IndexFunc(l.requests, func(r Request) bool { return r.Number == e.Request && r.Hash == e.PlanHash })
		if i < 0 || l.requests[i].Void != "" {
			return nil, nil // archived, or no longer to be believed: ask again
		}
		stored, _, _, err := g.Stored(ctx, l.requests[i])
		if err != nil {
			return nil, err
		}
		var digests []string
		for _, c := range stored.Changes {
			if isHook(c) {
				digests = append(digests, c.Digest)
			}
		}
		return digests, nil
	}
	return nil, nil
}

// settled says that a plan holds nothing but hooks that policy has settled.
func settled(p *plan.Plan, j policy.Judgement) bool {
	return j.Verdict == state.VerdictAllowed && !slices.ContainsFunc(p.Changes, func(c plan.Change) bool { return !isHook(c) }) &&
		!slices.ContainsFunc(j.Changes, func(c policy.ChangeJudgement) bool { return !c.Settled })
}
