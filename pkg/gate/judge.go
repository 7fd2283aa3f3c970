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
	in := l.input(p, header, lane)
	var err error
	if slices.ContainsFunc(p.Changes, isHook) {
		if l.extent.rules {
			if l, err = g.LoadFor(ctx, header.Scope, p.Hash); err != nil {
				return in, err
			}
		}
		in.SettledHooks, err = g.settledHooks(ctx, l, header.Scope)
	}
	return in, err
}

// input is PolicyInput as if no hook had ever been allowed.
func (l *Ledger) input(p *plan.Plan, header state.Plan, lane string) policy.Input {
	return policy.Input{Plan: p, Proposer: header.Proposer, Author: author(header), Revision: header.Revision, Lane: lane, Now: l.now}
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

// settled says that a plan holds nothing but hooks that policy has settled.
func settled(p *plan.Plan, j policy.Judgement) bool {
	return j.Verdict == state.VerdictAllowed && !slices.ContainsFunc(p.Changes, func(c plan.Change) bool { return !isHook(c) }) &&
		!slices.ContainsFunc(j.Changes, func(c policy.ChangeJudgement) bool { return !c.Settled })
}
