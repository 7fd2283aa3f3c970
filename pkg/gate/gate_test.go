package gate_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

func alice(w *world) state.Person {
	if w.keys["alice"] == nil {
		w.enrollByHand("alice")
		w.tick()
	}
	return person("alice", "sre", "staff")
}

func TestAChangeWaitsForApprovalAndPassesOnceItHasIt(t *testing.T) {
	w := newWorld(t)
	first := w.run(flag("shop", "false", "true"))
	assert.Equal(t, decision(first), state.VerdictApprovalRequired)
	assert.Equal(t, first.Request.Status, gate.AwaitingApproval)
	assert.Equal(t, first.Request.Number, 1)
	assert.Equal(t, needs(first)[0].Rule, "prod-needs-sre")

	assert.NilError(t, w.decide(alice(w), first.Request.ID, state.ActionApprove))
	passed := w.run(flag("shop", "false", "true"))
	assert.Equal(t, decision(passed), state.VerdictAllowed)
	assert.Equal(t, passed.Request.ID, first.Request.ID)
	assert.Equal(t, passed.Request.Status, gate.Approved)
	assert.Equal(t, passed.Verdict.Requirements[0].Met, 1)
}

func TestARetryWritesNothing(t *testing.T) {
	w := newWorld(t)
	id := w.run(flag("shop", "false", "true")).Request.ID
	waiting := w.total()
	w.run(flag("shop", "false", "true"))
	assert.Equal(t, w.total(), waiting)

	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	w.run(flag("shop", "false", "true"))
	approved := w.total()
	w.run(flag("shop", "false", "true"))
	assert.Equal(t, w.total(), approved)
}

func TestAnEmptyPlanPassesAndWritesNothing(t *testing.T) {
	w := newWorld(t)
	before := w.total()
	assert.Equal(t, decision(w.run(flag("shop", "true", "true"))), state.VerdictAllowed)
	assert.Equal(t, w.total(), before)
}

func TestAnEmptyPlanSpendsTheApprovalOfWhatIsDone(t *testing.T) {
	w := newWorld(t)
	id := w.run(flag("shop", "false", "true")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	w.run(flag("shop", "false", "true"))
	w.run(flag("shop", "true", "true"))
	assert.Equal(t, w.count(state.TypeOutcome), 1)
	w.run(flag("shop", "true", "true"))
	assert.Equal(t, w.count(state.TypeOutcome), 1, "the outcome is written once")

	again := w.run(flag("shop", "false", "true"))
	assert.Equal(t, decision(again), state.VerdictApprovalRequired, "the same plan needs a new approval")
	assert.Equal(t, again.Request.Number, 2)
}

func TestALaterAllowedPlanOfTheScopeSpendsAnApproval(t *testing.T) {
	w := newWorld(t)
	first := w.run(flag("shop", "false", "true")).Request.ID
	assert.NilError(t, w.decide(alice(w), first, state.ActionApprove))
	second := w.run(flag("shop", "false", "beta")).Request.ID
	assert.Equal(t, decision(w.run(flag("shop", "false", "true"))), state.VerdictAllowed, "a pending plan spends nothing")

	assert.NilError(t, w.decide(alice(w), second, state.ActionApprove))
	assert.Equal(t, decision(w.run(flag("shop", "false", "beta"))), state.VerdictAllowed)
	again := w.run(flag("shop", "false", "true"))
	assert.Equal(t, decision(again), state.VerdictApprovalRequired)
	assert.Equal(t, again.Request.Number, 3)
}

func TestAnotherScopeSpendsNothing(t *testing.T) {
	w := newWorld(t)
	id := w.run(flag("shop", "false", "true")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	assert.Equal(t, decision(w.run(create("banner", configMap("banner", "sale")))), state.VerdictAllowed)
	assert.Equal(t, decision(w.run(flag("shop", "false", "true"))), state.VerdictAllowed)
}

func TestTwoGatesAtOnceMakeOneRequest(t *testing.T) {
	w := newWorld(t)
	w.tick()
	var group sync.WaitGroup
	results := make([]*gate.Result, 8)
	for i := range results {
		group.Go(func() {
			result, err := w.as(ci()).Run(context.Background(), nil, gate.Input{Plan: flag("shop", "false", "true"), Header: state.Plan{Scope: "shop"}})
			assert.Check(t, err)
			results[i] = result
		})
	}
	group.Wait()
	assert.Equal(t, w.count(state.TypePlan), 1)
	assert.Equal(t, w.count(state.TypeAudit), 1)
	for _, r := range results {
		assert.Equal(t, r.Request.Number, 1)
		assert.Equal(t, decision(r), state.VerdictApprovalRequired)
	}
}

func TestTheProposerCannotApprove(t *testing.T) {
	w := newWorld(t)
	w.tick()
	me := alice(w)
	w.tick()
	result, err := w.as(me).Run(context.Background(), nil, gate.Input{Plan: flag("shop", "false", "true"), Header: state.Plan{Scope: "shop"}})
	assert.NilError(t, err)
	err = w.decide(me, result.Request.ID, state.ActionApprove)
	assert.ErrorContains(t, err, "IsProposer")
	assert.Equal(t, w.count(state.TypeDecision), 0)
}

func TestSomeoneOutsideTheGroupCannotApprove(t *testing.T) {
	w := newWorld(t)
	id := w.run(flag("shop", "false", "true")).Request.ID
	w.enrollByHand("mallory")
	assert.ErrorContains(t, w.decide(person("mallory", "dev"), id, state.ActionApprove), "NotInGroup")
}

func TestARejectionStopsTheRequestUntilAskedAgain(t *testing.T) {
	w := newWorld(t)
	id := w.run(flag("shop", "false", "true")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionReject))
	rejected := w.run(flag("shop", "false", "true"))
	assert.Equal(t, decision(rejected), state.VerdictDenied)
	assert.Equal(t, rejected.Request.Status, gate.Rejected)

	w.tick()
	again, err := w.as(ci()).Run(context.Background(), nil, gate.Input{Plan: flag("shop", "false", "true"), Header: state.Plan{Scope: "shop", Reason: "fixed"}, Again: true})
	assert.NilError(t, err)
	assert.Equal(t, again.Request.Number, 2)
	assert.Equal(t, decision(again), state.VerdictApprovalRequired)
}

func TestAnApprovalCanBeTakenBack(t *testing.T) {
	w := newWorld(t)
	id := w.run(flag("shop", "false", "true")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	assert.NilError(t, w.decide(alice(w), id, state.ActionRevoke))
	assert.Equal(t, decision(w.run(flag("shop", "false", "true"))), state.VerdictApprovalRequired)
}

func TestAnApprovalExpires(t *testing.T) {
	w := newWorld(t)
	id := w.run(flag("shop", "false", "true")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	w.now = w.now.Add(73 * time.Hour)
	late := w.run(flag("shop", "false", "true"))
	assert.Equal(t, decision(late), state.VerdictApprovalRequired)
	assert.Equal(t, late.Request.Status, gate.Expired)
	assert.Equal(t, late.Verdict.Reasons[0].Reason, gate.ReasonApprovalExpired)

	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	renewed := w.run(flag("shop", "false", "true"))
	assert.Equal(t, decision(renewed), state.VerdictAllowed, "the same number can be approved again")
	assert.Equal(t, renewed.Request.Number, 1)
}

func TestAnIncompletePlanIsAnErrorAndRecordsNothing(t *testing.T) {
	w := newWorld(t)
	before := w.total()
	p := build("shop", plan.Observation{Object: object(configMap("flags", "true")), Applier: applier(),
		Failure: &plan.Failure{Reason: plan.ReasonForbidden, Message: "no"}})
	result := w.run(p)
	assert.Equal(t, decision(result), state.VerdictError)
	assert.Equal(t, w.total(), before)
}

func TestADeniedPlanIsRecordedOnce(t *testing.T) {
	w := newWorld(t)
	claim := map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "data", "namespace": "shop"}}
	result := w.run(create("shop", claim))
	assert.Equal(t, decision(result), state.VerdictDenied)
	assert.Equal(t, result.Request.Status, gate.Denied)
	total := w.total()
	w.run(create("shop", claim))
	assert.Equal(t, w.total(), total)
}

func TestTheGateSaysWhichApprovalALiveEditVoids(t *testing.T) {
	w := newWorld(t)
	id := w.run(flag("shop", "false", "true")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	moved := w.run(flag("shop", "beta", "true"))
	assert.Equal(t, decision(moved), state.VerdictApprovalRequired)
	assert.Equal(t, moved.StaleRequest.ID, id)
	assert.Equal(t, len(moved.Stale), 1)
	assert.Equal(t, moved.Stale[0].Cause, gate.CauseLive)
	assert.Equal(t, moved.Stale[0].Path, "data.flag")

	conflict := w.run(build("shop", plan.Observation{Object: object(configMap("flags", "true")), Applier: applier(),
		Failure: &plan.Failure{Reason: plan.ReasonConflict, Message: "conflict", Conflicts: []plan.Conflict{{Path: "data.flag", Manager: "kubectl-patch"}}}}))
	assert.Equal(t, decision(conflict), state.VerdictError)
	assert.Equal(t, conflict.StaleRequest.ID, id)
	assert.Equal(t, conflict.Stale[0].Manager, "kubectl-patch")
}

func TestANewerPendingPlanSupersedesOlderOnesOfItsScope(t *testing.T) {
	w := newWorld(t)
	first := w.run(flag("shop", "false", "true")).Request.ID
	w.run(flag("shop", "false", "beta"))
	request, err := w.load().Find(first)
	assert.NilError(t, err)
	assert.Equal(t, request.Status, gate.Superseded)
}

func TestRequestsAreFoundByEachOfTheirNames(t *testing.T) {
	w := newWorld(t)
	r := w.run(flag("shop", "false", "true")).Request
	for _, ref := range []string{r.ID, r.ID[:8], "1", "#1", state.PlanID(r.Hash), r.Hash, state.Hex(r.Hash)} {
		found, err := w.load().Find(ref)
		assert.NilError(t, err, ref)
		assert.Equal(t, found.ID, r.ID, ref)
	}
	_, err := w.load().Find("c_ffffffffffff")
	assert.ErrorContains(t, err, "no change request")
}

// hooked is a plan of one update and one migration hook.
func hooked(from, to, command string) *plan.Plan {
	p := flag("shop", from, to)
	hook := map[string]any{"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"generateName": "migrate-", "namespace": "shop",
			"annotations": map[string]any{"argocd.argoproj.io/hook": "PreSync"}},
		"spec": map[string]any{"command": command}}
	live := configMap("flags", from)
	live["metadata"].(map[string]any)["uid"] = "u1"
	merged := configMap("flags", to)
	merged["metadata"] = live["metadata"]
	return build(p.Scope, plan.Observation{Object: object(configMap("flags", to)), Live: live, Merged: merged, Applier: applier()},
		plan.Observation{Object: object(hook), Applier: applier()})
}

func TestASyncThatChangesNothingPassesWithItsHooks(t *testing.T) {
	w := newWorld(t)
	id := w.run(hooked("false", "true", "migrate")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	assert.Equal(t, decision(w.run(hooked("false", "true", "migrate"))), state.VerdictAllowed)

	assert.Equal(t, decision(w.run(hooked("true", "true", "migrate"))), state.VerdictAllowed, "the update is done, the hook was allowed")
	before := w.total()
	assert.Equal(t, decision(w.run(hooked("true", "true", "migrate"))), state.VerdictAllowed)
	assert.Equal(t, w.total(), before)
}

func TestAHookEditedAloneStops(t *testing.T) {
	w := newWorld(t)
	id := w.run(hooked("false", "true", "migrate")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	w.run(hooked("false", "true", "migrate"))
	assert.Equal(t, decision(w.run(hooked("true", "true", "drop everything"))), state.VerdictApprovalRequired)
}

func TestAnApprovalThatCouldChangeNothingIsRefused(t *testing.T) {
	w := newWorld(t)
	auto := w.run(create("banner", configMap("banner", "sale"))).Request.ID
	assert.ErrorContains(t, w.decide(alice(w), auto, state.ActionApprove), "needs no approval")

	id := w.run(flag("shop", "false", "true")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionReject))
	assert.ErrorContains(t, w.decide(alice(w), id, state.ActionApprove), "was rejected")
	assert.Equal(t, w.count(state.TypeDecision), 1)
}

func TestARejectionOfAnAutoApprovedRequestShowsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(policyText + "  emergency: {users: [alice]}\n")
	id := w.run(create("banner", configMap("banner", "sale"))).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionReject))
	request, err := w.load().Find(id)
	assert.NilError(t, err)
	assert.Equal(t, request.Status, gate.Rejected)
	assert.Equal(t, decision(w.run(create("banner", configMap("banner", "sale")))), state.VerdictDenied)
}

func TestThePlanOfAnotherScopeIsTheSameRequestAndSaysSo(t *testing.T) {
	w := newWorld(t)
	first := w.run(flag("shop", "false", "true"))
	again := w.run(flag("store", "false", "true"))
	assert.Equal(t, again.Request.ID, first.Request.ID)
	assert.Equal(t, len(again.Warnings), 1)
}
