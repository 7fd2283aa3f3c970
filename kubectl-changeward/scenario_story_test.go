package main

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

func TestANewHarmlessConfigMapIsAutoApproved(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.write(t, "shop.yaml", `{apiVersion: v1, kind: ConfigMap, metadata: {name: banner, namespace: NS}, data: {text: sale}}`)
	got := s.gate(t, "ci").exits(t, 0).prints(t, "+ "+s.namespace+"/ConfigMap/banner (create)", "): auto-approved\n", "policy: allowed")
	assert.Equal(t, got.stderr, "")
	assert.DeepEqual(t, counts(s.records(t)), map[string]int{"plan": 1, "audit": 1})
}

func TestANewClusterRoleBindingStops(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.write(t, "shop.yaml", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: NS-debug},
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view},
  subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: contractor}]}`)
	got := s.gate(t, "ci").exits(t, 2).prints(t, "! rbac", "+ ClusterRoleBinding/"+s.namespace+"-debug (create)",
		"): awaiting-approval\n", "policy: approval required (out-of-band; approvers: group:sre)")
	got.tells(t, "error: approval required\n", "hint: approve with `kubectl changeward approve c_")
}

func TestAChangeIsStoppedApprovedByTheRightPersonAndLetThrough(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	got := s.gate(t, "bob").exits(t, 2).prints(t, "plan p_", " · demo (prod) · reversible · 1 object · server-side dry run\n"+
		"~ "+s.namespace+"/ConfigMap/shop-config (update)\n     data.feature_new_cart: \"false\" → \"true\"\nchange c_", "): awaiting-approval\n"+
		"policy: approval required (out-of-band; approvers: group:sre): production Kubernetes syncs need SRE approval\n")
	id := idOf(t, got)
	got.tells(t, "error: approval required\nhint: approve with `kubectl changeward approve "+id+"`, then run the gate again\n")

	own := s.as("bob").run(t, "approve", id, "--yes").exits(t, 1).tells(t, "error: your approval of "+id+" would not count: IsProposer: bob proposed the change\n")
	assert.Equal(t, own.stdout, "")
	assert.Equal(t, idOf(t, s.gate(t, "ci").exits(t, 2)), id, "the pipeline finds the same request")
	assert.DeepEqual(t, counts(s.records(t)), map[string]int{"plan": 1, "audit": 1})

	signed := s.as("alice").run(t, "approve", id, "--yes", "--reason", "the team is ready").exits(t, 0).
		tells(t, "data.feature_new_cart: \"false\" → \"true\"\n", "proposer: bob\n")
	assert.Assert(t, cmp.Regexp(`^approved `+id+` \(#\d+\): now approved\n$`, signed.stdout))
	for range 2 {
		got = s.gate(t, "ci").exits(t, 0).prints(t, "): approved\n", "approved by alice (SHA256:", "policy: allowed: approved by alice (the team is ready)\n")
		assert.Equal(t, got.stderr, "")
		assert.Equal(t, idOf(t, got), id)
	}
	assert.DeepEqual(t, counts(s.records(t)), map[string]int{"plan": 1, "audit": 2, "decision": 1})
	assert.Equal(t, s.live(t).Data["feature_new_cart"], "false", "a gate applies nothing")
}

func TestARequestIsListedAndShownWithItsPlanItsPeopleAndItsDecisions(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.judged(t, "ci", 2, "--author", "dave", "--reason", "winter", "--ticket", "T-1", "--revision", strings.Repeat("a", 40)).Change
	s.as("alice").run(t, "approve", change.ID, "--yes", "--reason", "fine").exits(t, 0)
	listed := s.as("carol").run(t, "list").exits(t, 0).prints(t, "NUMBER")
	assert.Assert(t, cmp.Regexp(change.ID+` +approved +`+s.dir+` +dave \(claimed\) `, listed.stdout))
	s.as("carol").run(t, "list", "-o", "name").exits(t, 0).prints(t, change.ID+"\n")
	shown := s.as("carol").run(t, "show", change.ID).exits(t, 0)
	shown.prints(t, "data.feature_new_cart: \"false\" → \"true\"\n", "scope: "+s.dir, "author: dave (claimed)", "reason: winter", "ticket: T-1",
		"proposer: system:serviceaccount:changeward-gate:ci", "approved by alice (SHA256:", ": fine\n")
	assert.Equal(t, shown.stderr, "")
	request := s.request(t, change.ID)
	assert.Equal(t, request.Decisions[0].Person, "alice")
	assert.Assert(t, request.Decisions[0].Counts && request.Decisions[0].Signed && request.Decisions[0].Attested)
	assert.DeepEqual(t, request.Author, &state.Author{Name: "dave", Claimed: true})
	assert.Equal(t, request.Plan.Changes[0].Fields[0].Path, "data.feature_new_cart")
	var explained struct {
		Changes []struct{ Rule string }
	}
	s.as("carol").run(t, "policy", "explain", request.PlanID, "-o", "json").exits(t, 0).json(t, &explained)
	assert.Equal(t, explained.Changes[0].Rule, "prod-needs-sre")
	for _, ref := range []string{request.PlanID, request.Hash, change.ID[:8]} {
		assert.Equal(t, s.request(t, ref).ID, change.ID, ref)
	}
}

func TestEveryFormOfAnAnswerNamesTheChange(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	var result render.GateResult
	s.gate(t, "ci", "-o", "json").exits(t, 2).json(t, &result)
	assert.Equal(t, result.Kind, "GateResult")
	assert.Equal(t, result.Verdict.Decision, "approval-required")
	assert.Equal(t, result.Verdict.Reasons[0].Reason, "ApprovalMissing")
	assert.Equal(t, result.Verdict.Requirements[0].Rule, "prod-needs-sre")
	assert.DeepEqual(t, result.Plan.Namespaces, []string{s.namespace})
	s.gate(t, "ci", "-o", "markdown").exits(t, 2).prints(t, result.Plan.ID, result.Change.ID, "feature_new_cart")
	plan := s.as("dave").run(t, "plan", "-f", s.dir, "-o", "json").exits(t, 0)
	var planned render.PlanResult
	plan.json(t, &planned)
	assert.Equal(t, planned.Hash, result.Plan.Hash, "a person's plan is the gate's")
	s.as("dave").run(t, "plan", "-f", s.dir, "--exit-code").exits(t, 2).prints(t, "policy: approval required")
	assert.DeepEqual(t, counts(s.records(t)), map[string]int{"plan": 1, "audit": 1})
}
