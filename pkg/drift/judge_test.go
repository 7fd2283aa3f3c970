package drift_test

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/drift"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

const uid = "11111111-2222-3333-4444-555555555555"

func since() time.Time { return time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC) }

func key() manifest.Key { return manifest.Key{Kind: "ConfigMap", Namespace: "shop", Name: "conf"} }

func body(operation plan.Operation) plan.Body {
	b := plan.Body{Version: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "conf", Operation: operation, LiveUID: uid}
	switch operation {
	case plan.Create:
		b.LiveUID, b.Object = "", object("new")
	case plan.Update:
		b.Transitions = []diff.Transition{{Path: "data.flag", Action: diff.Change, Old: "old", New: "new"}}
	}
	return b
}

func object(flag string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "conf", "namespace": "shop", "uid": uid},
		"data": map[string]any{"flag": flag}}
}

// applied is an owner that reconciled so long after the change.
func applied(after time.Duration, objects ...map[string]any) *drift.Applied {
	git := &drift.Applied{Owner: "kustomization/flux-system/apps", Revision: "main@sha1:abc", Reconciled: since().Add(after), Objects: map[manifest.Key]map[string]any{}}
	for _, o := range objects {
		git.Objects[key()] = o
	}
	return git
}

func TestAChangeIsReconciledOnlyByTheOwnersOwnManifestsAppliedSinceAndStillLive(t *testing.T) {
	other := object("new")
	other["metadata"].(map[string]any)["uid"] = "another"
	for _, c := range []struct {
		name      string
		operation plan.Operation
		live      map[string]any
		git       *drift.Applied
		state     drift.State
		why       string
	}{
		{"Git has it", plan.Update, object("new"), applied(time.Minute, object("new")), drift.Reconciled, "Git has it at main@sha1:abc"},
		{"Git has the old value", plan.Update, object("new"), applied(time.Minute, object("old")), drift.Unreconciled, "Git does not have it so at main@sha1:abc"},
		{"Git has it, and the owner did not reconcile", plan.Update, object("new"), applied(-time.Minute, object("new")), drift.Unreconciled, "kustomization/flux-system/apps has not reconciled since"},
		{"in the same second", plan.Update, object("new"), applied(0, object("new")), drift.Unreconciled, "kustomization/flux-system/apps has not reconciled since"},
		{"a folder has it, which nobody reconciles", plan.Update, object("new"), &drift.Applied{Objects: applied(0, object("new")).Objects}, drift.Reconciled, "Git has it"},
		{"the object left Git", plan.Update, object("new"), applied(time.Minute), drift.Unreconciled, "Git does not define the object at main@sha1:abc"},
		{"what Git has is not known", plan.Update, object("new"), &drift.Applied{Unknown: "no artifact"}, drift.Unreconciled, "whether Git has it is not known: no artifact"},
		{"nobody owns it", plan.Update, object("new"), nil, drift.Unreconciled, "nobody owns it: name the directory of its manifests with --k8s-dir to see whether Git has it"},
		{"it was put back", plan.Update, object("old"), applied(time.Minute, object("new")), drift.Reverted, "the cluster no longer has it so"},
		{"the object is gone", plan.Update, nil, applied(time.Minute, object("new")), drift.Reverted, "the object is gone"},

		{"created, and in Git", plan.Create, object("new"), applied(time.Minute, object("new")), drift.Reconciled, "Git defines it at main@sha1:abc"},
		{"created, and in Git with another value", plan.Create, object("new"), applied(time.Minute, object("old")), drift.Unreconciled, "Git defines it with another data.flag at main@sha1:abc"},
		{"created, and not in Git", plan.Create, object("new"), applied(time.Minute), drift.Unreconciled, "Git does not define it at main@sha1:abc"},
		{"created, in Git, and changed since", plan.Create, object("third"), applied(time.Minute, object("new")), drift.Unreconciled, "Git defines it at main@sha1:abc, and the cluster has another data.flag"},
		{"created, and gone again", plan.Create, nil, applied(time.Minute), drift.Reverted, "it is gone"},

		{"deleted, and left Git", plan.Delete, nil, applied(time.Minute), drift.Reconciled, "Git no longer defines it at main@sha1:abc"},
		{"deleted, and still in Git", plan.Delete, nil, applied(time.Minute, object("old")), drift.Unreconciled, "Git still defines it at main@sha1:abc"},
		{"deleted, and nobody owned it", plan.Delete, nil, nil, drift.Unreconciled, "nobody owns it: name the directory of its manifests with --k8s-dir to see whether Git has it"},
		{"deleted, and made anew", plan.Delete, other, applied(time.Minute, object("old")), drift.Reverted, "it was made anew"},
		{"still being deleted", plan.Delete, object("old"), applied(time.Minute), drift.Unreconciled, "it is still being deleted"},
	} {
		got := drift.Judge(body(c.operation), since(), plan.Sight{Object: c.live}, c.git)
		assert.Equal(t, got.State, c.state, c.name)
		assert.Equal(t, got.Why, c.why, c.name)
		assert.Equal(t, got.Since, since())
	}
}

func TestAChangeStandsAsTheWorstOfItsFieldsAndIsSettledOnlyAsAWhole(t *testing.T) {
	b := body(plan.Update)
	b.Transitions = append(b.Transitions, diff.Transition{Path: "data.more", Action: diff.Add, New: "x"}, diff.Transition{Path: "data.gone", Action: diff.Remove, Old: "x"})
	live, git := object("new"), object("new")
	live["data"].(map[string]any)["more"] = "x"
	git["data"].(map[string]any)["gone"] = "x"
	got := drift.Judge(b, since(), plan.Sight{Object: live}, applied(time.Minute, git))
	assert.Equal(t, got.State, drift.Unreconciled)
	var states []drift.State
	for _, f := range got.Fields {
		states = append(states, f.State)
	}
	assert.DeepEqual(t, states, []drift.State{drift.Reconciled, drift.Unreconciled, drift.Unreconciled})

	reconciled, reverted := drift.Change{State: drift.Reconciled}, drift.Change{State: drift.Reverted}
	assert.Assert(t, drift.Settled([]drift.Change{reconciled, reverted}))
	assert.Assert(t, !drift.Settled([]drift.Change{reconciled, got}))
	assert.Assert(t, !drift.Settled([]drift.Change{reverted}), "nothing of it is in Git")
	assert.Assert(t, !drift.Settled(nil))
}

func TestOnlyWhatPeoplesToolsHoldAndGitDoesNotSetSoIsForeign(t *testing.T) {
	live := object("new")
	live["data"].(map[string]any)["own"] = "1"
	live["data"].(map[string]any)["same"] = "2"
	live["metadata"].(map[string]any)["labels"] = map[string]any{"team": "a"}
	hand := plan.Holder{Manager: "kubectl-edit", Time: since()}
	later := plan.Holder{Manager: "k9s", Time: since().Add(time.Hour)}
	sight := plan.Sight{Object: live, Holders: map[string]plan.Holder{
		"data": hand, "data.flag": hand, "data.same": hand, "data.own": {Manager: "kustomize-controller", Time: since()}, "metadata.labels.team": later,
		`metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`: hand,
		"spec.replicas": {Manager: "kube-controller-manager"}}}
	git := object("old")
	git["data"].(map[string]any)["same"] = "2"
	got := drift.Foreign(key(), "v1", sight, applied(time.Minute, git))
	assert.Equal(t, len(got), 2)
	assert.Equal(t, got[0].Manager, "k9s")
	assert.Equal(t, got[0].Since, since().Add(time.Hour))
	assert.Equal(t, got[1].Manager, "kubectl-edit")
	assert.Equal(t, len(got[1].Fields), 1)
	assert.Equal(t, got[1].Fields[0].Path, "data.flag")
	assert.Equal(t, len(drift.Foreign(key(), "v1", sight, &drift.Applied{Unknown: "no artifact"})[1].Fields), 2, "what Git has is not known")
}
