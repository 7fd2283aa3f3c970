package gate_test

import (
	"context"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// newKey is a key that nobody has enrolled.
func newKey(t *testing.T) sign.Signer {
	t.Helper()
	private, _, err := sign.NewGateKey()
	assert.NilError(t, err)
	key, err := sign.ParseGateKey(private)
	assert.NilError(t, err)
	return key
}

// unanswered is a world where the server does not say whether the fence
// stands.
func (w *world) unanswered(who state.Person) *gate.Gate {
	g := w.as(who)
	g.Attestation = func(context.Context, []state.Epoch) gate.Attestation {
		return gate.Attestation{Void: "CanaryUnanswered", Detail: "500", Unknown: true}
	}
	return g
}

func TestWhereNobodyKnowsWhetherTheFenceStandsNothingIsDecided(t *testing.T) {
	w := newWorld(t)
	ask := func(p string) *gate.Result {
		result, err := w.unanswered(ci()).Run(context.Background(), nil, gate.Input{Plan: flag(p, "false", "true"), Header: state.Plan{Scope: p}})
		assert.NilError(t, err)
		return result
	}
	assert.Equal(t, decision(ask("signed")), state.VerdictApprovalRequired, "who counts signatures alone needs no fence")
	w.setPolicy(strings.Replace(policyText, "identity: signed", "identity: both", 1))
	before := w.total()
	result := ask("both")
	assert.Equal(t, decision(result), state.VerdictError)
	assert.Equal(t, result.Verdict.Reasons[0].Reason, gate.ReasonUnattestable)
	assert.Equal(t, w.total(), before)
}

func TestAFirstKeyIsEnrolledOnlyWithADecisionThatCounts(t *testing.T) {
	w := newWorld(t)
	request := *w.run(flag("shop", "false", "true")).Request
	decide := func(who string) error {
		ledger := w.load()
		_, err := w.as(person(who)).Decide(context.Background(), ledger,
			gate.DecideInput{Request: request, Action: state.ActionApprove, Signer: newKey(t), First: true})
		return err
	}
	keys := w.count(state.TypeKey)
	assert.ErrorContains(t, decide("mallory"), "NotInGroup")
	assert.Equal(t, w.count(state.TypeKey), keys)
	_, err := w.as(person("mallory")).SetPolicy(context.Background(), w.load(), policyText, newKey(t), true)
	assert.ErrorContains(t, err, "no admin")
	assert.Equal(t, w.count(state.TypeKey), keys)

	assert.NilError(t, decide("alice"))
	assert.Equal(t, w.count(state.TypeKey), keys+1)
	assert.Equal(t, decision(w.run(flag("shop", "false", "true"))), state.VerdictAllowed)
}

func TestApprovingAgainInTheSameSecondSaysTheSame(t *testing.T) {
	w := newWorld(t)
	id := w.run(flag("shop", "false", "true")).Request.ID
	alice(w)
	approve := func(reason string) string {
		ledger := w.load()
		request, err := ledger.Find(id)
		assert.NilError(t, err)
		record, err := w.as(person("alice")).Decide(context.Background(), ledger,
			gate.DecideInput{Request: request, Action: state.ActionApprove, Reason: reason, Signer: w.keys["alice"]})
		assert.NilError(t, err)
		return record.Name
	}
	first := approve("")
	assert.Equal(t, approve(""), first)
	assert.Equal(t, approve("as I said"), first)
	assert.Equal(t, w.count(state.TypeDecision), 1)
}
