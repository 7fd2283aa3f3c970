package main

import (
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

// patch edits the live ConfigMap as another tool would.
func (s shop) patch(t *testing.T, manager, patch string) {
	t.Helper()
	_, err := s.Client(kubetest.Admin).CoreV1().ConfigMaps(s.namespace).Patch(t.Context(), "shop-config",
		types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager})
	assert.NilError(t, err)
}

func TestALiveEditOfTheTouchedFieldMakesTheApprovalStale(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.approved(t)
	s.gate(t, "ci").exits(t, 0)
	s.apply(t, "changeward", s.config("beta"))
	got := s.gate(t, "ci").exits(t, 2).prints(t, `data.feature_new_cart: "beta" → "true"`, "): awaiting-approval\n",
		"stale: the approval of "+change.ID+" (#", ") does not cover this plan:\n",
		"live "+s.namespace+"/ConfigMap/shop-config data.feature_new_cart: was changed in the cluster (by changeward, ")
	assert.Assert(t, idOf(t, got) != change.ID)
	var result render.GateResult
	s.gate(t, "ci", "-o", "json").exits(t, 2).json(t, &result)
	assert.Equal(t, result.StaleChange.ID, change.ID)
	assert.Equal(t, result.Stale[0].Cause, "live")
	assert.Equal(t, result.Stale[0].Path, "data.feature_new_cart")

	s.apply(t, "changeward", s.config("false"))
	got = s.gate(t, "ci").exits(t, 0).prints(t, "): approved\n", "policy: allowed: approved by alice\n")
	assert.Equal(t, idOf(t, got), change.ID, "the old approval holds again")
	assert.DeepEqual(t, counts(s.records(t)), map[string]int{"plan": 2, "audit": 3, "decision": 1})
}

func TestALiveEditOfTheTouchedFieldByAnotherManagerIsAConflictThatNamesWhatItVoids(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.approved(t)
	before := s.records(t)
	s.patch(t, "kubectl-patch", `{"data":{"feature_new_cart":"beta"}}`)
	got := s.gate(t, "ci").exits(t, 1).prints(t, "incomplete: 1 problem", "✗ "+s.namespace+"/ConfigMap/shop-config (Conflict)",
		s.dir+"/shop.yaml:1: ", `data.feature_new_cart: held by "kubectl-patch", would become "true"`, "policy: could not decide",
		"stale: the approval of "+change.ID+" (#", "data.feature_new_cart: is held by another manager now (by kubectl-patch, ")
	got.tells(t, "error: the plan is incomplete: 1 problem\n")
	var result render.GateResult
	s.gate(t, "ci", "-o", "json").exits(t, 1).json(t, &result)
	assert.Equal(t, result.StaleChange.ID, change.ID)
	assert.Equal(t, result.Stale[0].Manager, "kubectl-patch")
	assert.Assert(t, result.Change == nil)
	assert.DeepEqual(t, s.records(t), before)

	s.apply(t, "changeward", s.config("false"))
	assert.Equal(t, idOf(t, s.gate(t, "ci").exits(t, 0)), change.ID)
}

func TestALiveEditElsewhereKeepsTheApproval(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.approved(t)
	s.patch(t, "monitoring", `{"metadata":{"annotations":{"example.com/seen-by":"monitoring"}},"data":{"unrelated":"yes"}}`)
	got := s.gate(t, "ci").exits(t, 0).prints(t, "policy: allowed: approved by alice")
	assert.Equal(t, idOf(t, got), change.ID)
}

func TestOnceAppliedThePlanIsEmptyAndTheApprovalIsSpentOnce(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.approved(t)
	s.gate(t, "ci").exits(t, 0)
	s.apply(t, "changeward", s.config("true"))
	for range 3 {
		got := s.gate(t, "ci").exits(t, 0).prints(t, " · 0 objects · ", "policy: allowed: nothing to change\n")
		assert.Equal(t, got.stderr, "")
		assert.DeepEqual(t, counts(s.records(t)), map[string]int{"plan": 1, "audit": 2, "decision": 1, "outcome": 1})
	}
	request := s.request(t, change.ID)
	assert.Equal(t, request.Status, "applied")
	assert.Equal(t, len(request.Outcomes), 1)
	assert.Assert(t, request.Outcomes[0].Observed)
	assert.Equal(t, request.Outcomes[0].Result, "applied")

	s.apply(t, "changeward", s.config("false"))
	again := s.proposed(t)
	assert.Assert(t, again.Number > change.Number, "a spent approval is not used twice")
	s.as("alice").run(t, "approve", change.ID, "--yes").exits(t, 1).tells(t, change.ID+" is applied already")
}

func TestANewerPlanOfTheScopeSupersedesThePendingOne(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	older := s.proposed(t)
	s.write(t, "shop.yaml", s.config("maybe"))
	newer := s.proposed(t)
	assert.Equal(t, s.request(t, older.ID).Status, "superseded")
	s.as("alice").run(t, "approve", older.ID, "--yes").exits(t, 0).tells(t, "warning: a newer plan of this scope has been put forward since\n").
		prints(t, "now approved")
	s.write(t, "shop.yaml", s.config("true"))
	assert.Equal(t, idOf(t, s.gate(t, "ci").exits(t, 0)), older.ID)
	assert.Equal(t, s.request(t, newer.ID).Status, "awaiting-approval")
}

func TestOfAnAutoApprovedPlanThatWasAppliedTheNextRunWritesNothing(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	const banner = `{apiVersion: v1, kind: ConfigMap, metadata: {name: banner, namespace: NS}, data: {text: sale}}`
	s.write(t, "shop.yaml", banner)
	s.gate(t, "ci").exits(t, 0)
	s.apply(t, "changeward", banner)
	s.gate(t, "ci").exits(t, 0).prints(t, "policy: allowed: nothing to change")
	assert.DeepEqual(t, s.records(t, state.TypeOutcome), []string(nil))
	assert.Assert(t, cmp.Len(s.records(t), 2))
}
