package gate_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/state"
)

// Who proposes may write audit entries with a key of their own: these are one
// person's word.
func TestAnApprovalIsNotSpentByTheWordOfAnotherWhoProposes(t *testing.T) {
	p := flag("shop", "false", "true")
	for name, lie := range map[string]state.Audit{
		"a later plan that is nowhere":                 {Request: 999, PlanHash: state.Digest(nil), Verdict: state.VerdictAllowed},
		"a later plan that is nowhere, of years ahead": {Request: 999, PlanHash: state.Digest(nil), Verdict: state.VerdictAllowed, Time: "2099-01-01T00:00:00Z"},
		"that request, under another hash":             {Request: 2, PlanHash: p.Hash, Verdict: state.VerdictAllowed, Time: "2099-01-01T00:00:00Z"},
		"that policy denied it":                        {Request: 1, PlanHash: p.Hash, Verdict: state.VerdictDenied},
		"that nothing was enforced":                    {Request: 999, PlanHash: p.Hash, Verdict: state.VerdictApprovalRequired, NotEnforced: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.enrollByHand("bob")
			w.tick()
			id := w.run(p).Request.ID
			assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
			w.tick()
			lie.Actor, lie.ClusterUID, lie.Number, lie.PolicyVersion, lie.Scope, lie.Previous = person("bob"), clusterUID, 2, 1, "shop", w.load().ChainHead()
			if lie.Time == "" {
				lie.Time = w.stamp()
			}
			w.forge(state.TypeAudit, entryName(2), "", "", lie, w.keys["bob"], "bob", nil)
			w.tick()
			result := w.run(p)
			assert.Equal(t, decision(result), state.VerdictAllowed)
			assert.Equal(t, result.Request.ID, id)
		})
	}
}
