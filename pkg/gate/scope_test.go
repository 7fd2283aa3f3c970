package gate_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

func in(namespace string, content map[string]any) map[string]any {
	content["metadata"].(map[string]any)["namespace"] = namespace
	return content
}

func TestAScopeIsOnlyANameSoAnotherTeamCannotSpendItsApprovals(t *testing.T) {
	namespace := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop"}}
	const rival, hook = "system:serviceaccount:changeward-gate:rival", "system:serviceaccount:shop:changeward-gate"
	for _, test := range []struct {
		name, proposer string
		plan           *plan.Plan
		spent          bool
	}{
		{"another team's plan of that name, in its own namespace", rival, create("shop", in("rival", configMap("banner", "x"))), false},
		{"another team's empty plan of that name", rival, build("shop", plan.Observation{Object: object(in("rival", configMap("banner", "x"))),
			Live: in("rival", configMap("banner", "x")), Merged: in("rival", configMap("banner", "x")), Applier: applier()}), false},
		{"a hook in the application's namespace that lets a later plan pass", hook, create("shop", configMap("banner", "x")), true},
		{"a plan of the namespace itself", rival, create("shop", namespace), true},
		{"the proposer's own later plan, wherever", ci().Username, create("shop", in("other", configMap("banner", "x"))), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			p := flag("shop", "false", "true")
			id := w.run(p).Request.ID
			assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
			w.tick()
			other, err := w.as(person(test.proposer)).Run(context.Background(), nil, gate.Input{Plan: test.plan, Header: state.Plan{Scope: "shop"}})
			assert.NilError(t, err)
			assert.Equal(t, decision(other), state.VerdictAllowed)
			result := w.run(p)
			assert.Equal(t, decision(result) == state.VerdictApprovalRequired, test.spent)
			assert.Equal(t, result.Request.Number > 1, test.spent)
		})
	}
}
