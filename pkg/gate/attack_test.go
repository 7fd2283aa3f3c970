package gate_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// fenced is a world whose records an admission fence attests since from.
func (w *world) fenced(who state.Person, from time.Time) *gate.Gate {
	g := w.as(who)
	g.Attestation = func(context.Context, []state.Epoch) gate.Attestation { return gate.Attestation{From: from} }
	return g
}

// forge stores a signed record as someone who can write into the namespace.
func (w *world) forge(t state.Type, name, subject, hash string, predicate any, key sign.Signer, actor string, data map[string][]byte) {
	w.t.Helper()
	envelope, payload, err := sign.Seal(key, t, subject, hash, predicate)
	assert.NilError(w.t, err)
	if name == "" {
		name = state.ContentName(t, payload)
	}
	all := map[string][]byte{state.DataEnvelope: envelope}
	for k, v := range data {
		all[k] = v
	}
	_, err = w.store.Create(context.Background(), state.Record{Type: t, Name: name, Data: all, Claims: state.Claims{Actor: actor, PlanHash: hash}})
	assert.NilError(w.t, err)
}

// forgePlan stores a plan record with this header, signed with key.
func (w *world) forgePlan(p *plan.Plan, header state.Plan, key sign.Signer, actor string) string {
	w.t.Helper()
	encoded, err := plan.Encode(p)
	assert.NilError(w.t, err)
	packed, err := state.Compress(encoded)
	assert.NilError(w.t, err)
	header.ClusterUID, header.Time, header.Scope = clusterUID, w.stamp(), p.Scope
	id := state.ChangeID(clusterUID, p.Hash, header.Number)
	w.forge(state.TypePlan, state.NumberedName(state.TypePlan, header.Number), id, p.Hash, header, key, actor,
		map[string][]byte{state.DataPlan: packed})
	return id
}

func TestAProposerCannotApproveByProposingInAnothersName(t *testing.T) {
	w := newWorld(t)
	who := alice(w)
	p := flag("shop", "false", "true")
	id := w.forgePlan(p, state.Plan{Number: 1, Proposer: person("carol")}, w.keys["alice"], "alice")
	_ = w.decide(who, id, state.ActionApprove)
	result := w.run(p)
	assert.Equal(t, decision(result), state.VerdictApprovalRequired)
	assert.Assert(t, result.Request.ID != id, "a request whose proposer is not its writer stands for nothing")
}

func TestAForgedAuditEntrySettlesNoHook(t *testing.T) {
	w := newWorld(t)
	w.enrollByHand("bob")
	w.tick()
	evil := hooked("true", "true", "drop everything")
	w.forgePlan(evil, state.Plan{Number: 1, Proposer: person("bob")}, w.keys["bob"], "bob")
	w.forgeAllowed(evil, 1, w.keys["bob"], "bob")
	assert.Equal(t, decision(w.run(evil)), state.VerdictApprovalRequired)
}

// forgeAllowed stores an audit entry that says a plan was allowed.
func (w *world) forgeAllowed(p *plan.Plan, request int, key sign.Signer, actor string) {
	w.t.Helper()
	w.forge(state.TypeAudit, state.NumberedName(state.TypeAudit, 1), "", "", state.Audit{Actor: person(actor), Auto: true,
		ClusterUID: clusterUID, Number: 1, PlanHash: p.Hash, PolicyVersion: 1, Request: request, Scope: p.Scope,
		Time: w.stamp(), Verdict: state.VerdictAllowed}, key, actor, nil)
}

func TestAHookThatPassedUnenforcedIsNotSettled(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(strings.Replace(policyText, "  env: prod\n", "  env: prod\n  enforce: false\n", 1))
	assert.Equal(t, w.run(hooked("true", "true", "drop everything")).Enforced, false)
	w.setPolicy(policyText)
	result := w.run(hooked("true", "true", "drop everything"))
	assert.Equal(t, result.Enforced, true)
	assert.Equal(t, decision(result), state.VerdictApprovalRequired)
}

func TestASettledHookStaysSettledThroughPlansThatPolicyAllows(t *testing.T) {
	w := newWorld(t)
	id := w.run(hooked("false", "true", "migrate")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	assert.Equal(t, decision(w.run(hooked("false", "true", "migrate"))), state.VerdictAllowed)

	p := hooked("true", "true", "migrate")
	both := build("shop", plan.Observation{Object: object(configMap("banner", "sale")), Merged: configMap("banner", "sale"), Applier: applier()},
		plan.Observation{Object: object(p.Changes[0].Body.Object.(map[string]any)), Applier: applier()})
	assert.Equal(t, decision(w.run(both)), state.VerdictAllowed)
	w.now = w.now.Add(100 * time.Hour)
	assert.Equal(t, decision(w.run(p)), state.VerdictAllowed)
}

func TestRecordsFromBeforeTheFenceStoodAgainAreNotAttested(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(strings.Replace(policyText, "identity: signed", "identity: both", 1))
	p := flag("shop", "false", "true")
	w.tick()
	early, err := w.fenced(ci(), w.now.Add(-time.Hour)).Run(context.Background(), nil, gate.Input{Plan: p, Header: state.Plan{Scope: p.Scope}})
	assert.NilError(t, err)
	who := alice(w)
	w.tick()
	ledger, err := w.fenced(ci(), w.now.Add(-time.Hour)).Load(context.Background())
	assert.NilError(t, err)
	_, err = w.fenced(who, w.now.Add(-time.Hour)).Decide(context.Background(), ledger,
		gate.DecideInput{Request: *early.Request, Action: state.ActionApprove, Signer: w.keys["alice"]})
	assert.NilError(t, err)
	w.now = w.now.Add(time.Minute)
	run := func(from time.Time) *gate.Result {
		result, err := w.fenced(ci(), from).Run(context.Background(), nil, gate.Input{Plan: p, Header: state.Plan{Scope: p.Scope}})
		assert.NilError(t, err)
		return result
	}
	assert.Equal(t, decision(run(w.now.Add(-2*time.Hour))), state.VerdictAllowed)
	late := run(w.now.Add(-time.Second))
	assert.Equal(t, decision(late), state.VerdictApprovalRequired, "the fence was down in between")
	assert.Equal(t, late.Request.Number, 2, "who proposed the first is not known any more")
}

func TestNumbersGoOnWhateverNamesOthersTook(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{fmt.Sprintf("cw-plan-%d", math.MaxInt64), fmt.Sprintf("cw-audit-%d", math.MaxInt64), "cw-plan-000001", "cw-plan-1", "cw-audit-0000000001"} {
		kind := state.Type(strings.Split(name, "-")[1])
		_, err := w.store.Create(context.Background(), state.Record{Type: kind, Name: name, Data: map[string][]byte{state.DataEnvelope: []byte("{}")}})
		assert.NilError(t, err)
	}
	w.enrollByHand("bob")
	w.forgePlan(flag("other", "a", "b"), state.Plan{Number: math.MaxInt64 - 1, Proposer: person("bob")}, w.keys["bob"], "bob")
	first := w.run(flag("shop", "false", "true"))
	assert.Equal(t, decision(first), state.VerdictApprovalRequired)
	assert.Equal(t, first.Request.Number, 2)
	found, err := w.load().Find("#2")
	assert.NilError(t, err)
	assert.Equal(t, found.ID, first.Request.ID)
}

func TestAnObjectThatIsNoRecordDoesNotBlockItsNumber(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"plan/cw-plan-000001", "audit/cw-audit-0000000001", "outcome/cw-outcome-000002-1"} {
		file := filepath.Join(w.root, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		assert.NilError(t, os.WriteFile(file, nil, 0o600)) // no folder, so in no list
	}
	id := w.run(flag("shop", "false", "true")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	assert.Equal(t, decision(w.run(flag("shop", "false", "true"))), state.VerdictAllowed)
	w.run(flag("shop", "true", "true"))
	request, err := w.load().Find(id)
	assert.NilError(t, err)
	assert.Equal(t, request.Status, gate.Applied)
	assert.Equal(t, request.Number, 2)
}

func TestTheNewestPolicyVersionCannotBeTakenAway(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(strings.Replace(policyText, "users: [alice]", "users: [carol]", 1))
	w.run(flag("shop", "false", "true"))
	assert.NilError(t, w.store.Delete(context.Background(), state.TypePolicy, state.NumberedName(state.TypePolicy, 2)))
	result := w.run(flag("shop", "false", "beta"))
	assert.Equal(t, decision(result), state.VerdictError)
	assert.Equal(t, result.Verdict.Reasons[0].Reason, gate.ReasonPolicyMissing)
	w.setPolicy(policyText)
	assert.Equal(t, decision(w.run(flag("shop", "false", "beta"))), state.VerdictApprovalRequired, "an admin has looked")
}

func TestAPlanRecordWithoutItsPlanDoesNotBlockThePlan(t *testing.T) {
	w := newWorld(t)
	w.enrollByHand("bob")
	w.tick()
	p := flag("shop", "false", "true")
	id := state.ChangeID(clusterUID, p.Hash, 1)
	w.forge(state.TypePlan, state.NumberedName(state.TypePlan, 1), id, p.Hash, state.Plan{Number: 1, Proposer: person("bob"), ClusterUID: clusterUID,
		Scope: "shop", Time: w.stamp()}, w.keys["bob"], "bob", map[string][]byte{state.DataPlan: []byte("garbage")})
	w.forgeAllowed(p, 1, w.keys["bob"], "bob")
	result := w.run(p)
	assert.Equal(t, decision(result), state.VerdictApprovalRequired)
	assert.Equal(t, result.Request.Number, 2)
}

func TestAKeyOfAnotherSignsNoOutcome(t *testing.T) {
	w := newWorld(t)
	p := flag("shop", "false", "true")
	id := w.run(p).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	w.forge(state.TypeOutcome, state.OutcomeName(1, 1), id, p.Hash, state.Outcome{Actor: person("root"), ClusterUID: clusterUID, Number: 1,
		Result: state.ResultApplied, Sequence: 1, Time: w.stamp()}, w.keys["alice"], "mallory", nil)
	assert.Equal(t, decision(w.run(p)), state.VerdictAllowed)
}

func TestAPolicyThatWasSetWhileTheFenceWasDownLetsNothingPass(t *testing.T) {
	w := newWorld(t)
	w.enrollByHand("mallory")
	w.tick()
	ledger := w.load()
	loose := strings.Replace(policyText, "default: approval", "default: allow", 1)
	loose = strings.Replace(loose, "decision: approval\n    approvers: [{users: [alice], count: 1}]\n", "decision: allow\n", 1)
	_, err := w.as(person("mallory", "admins")).SetPolicy(context.Background(), ledger, loose, w.keys["mallory"], false) // the group is a lie
	assert.NilError(t, err)
	w.tick()
	run := func(from time.Time) *gate.Result {
		p := flag("shop", "false", "true")
		result, err := w.fenced(ci(), from).Run(context.Background(), nil, gate.Input{Plan: p, Header: state.Plan{Scope: p.Scope}})
		assert.NilError(t, err)
		return result
	}
	assert.Equal(t, decision(run(w.now.Add(-time.Hour))), state.VerdictAllowed, "the API server vouches for the group")
	refused := run(w.now)
	assert.Equal(t, decision(refused), state.VerdictError)
	assert.Equal(t, refused.Verdict.Reasons[0].Reason, gate.ReasonPolicyUnvouched)

	w.setPolicy(policyText) // root set version 1
	assert.Equal(t, decision(run(w.now)), state.VerdictApprovalRequired)
}

func TestAnEpochThatIsDatedBackIsRefused(t *testing.T) {
	w := newWorld(t)
	w.now = w.now.Add(time.Hour)
	first, err := w.store.Get(context.Background(), state.TypeEpoch, state.NumberedName(state.TypeEpoch, 1))
	assert.NilError(t, err)
	w.put(state.TypeEpoch, 2, state.Epoch{Actor: person("root", "admins"), Admission: 1, ClusterUID: clusterUID, GateKey: w.load().Epoch().GateKey,
		Objects: []state.AdmissionObject{}, Previous: state.Digest(first.Data[state.DataEnvelope]), Time: w.now.Add(-30 * time.Minute).Format(time.RFC3339), Version: 2})
	ledger := w.load()
	assert.Equal(t, ledger.Epoch().Version, 1)
	assert.Equal(t, ledger.Rejected[0].Name, state.NumberedName(state.TypeEpoch, 2))
}
