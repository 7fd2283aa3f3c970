package plan_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

func removal(t *testing.T, name string) plan.Removal {
	return plan.Removal{
		Key: manifest.Key{Kind: "ConfigMap", Namespace: "shop", Name: name}, Version: "v1",
		Source:   manifest.Source{File: "kustomization/flux-system/apps"},
		Live:     object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+name+`, namespace: shop, uid: u-`+name+`}, data: {a: "1"}}`),
		Applier:  plan.Applier{Name: "flux", Mode: plan.ModeServerSide, Manager: "kustomize-controller", Force: true},
		Deletion: plan.Deletion{Propagation: "background", Fields: map[string]any{"data": map[string]any{"a": "1"}}},
	}
}

func namespaceRemoval(t *testing.T) plan.Removal {
	r := removal(t, "shop")
	r.Key = manifest.Key{Kind: "Namespace", Name: "shop"}
	r.Live = object(t, `{apiVersion: v1, kind: Namespace, metadata: {name: shop, uid: u-ns}}`)
	r.Deletion = plan.Deletion{Propagation: "background", Contents: map[string]int{"ConfigMap": 1, "PersistentVolumeClaim": 1},
		Volumes: []string{"u-pvc"}, Claims: []string{"not-in-git"}}
	return r
}

func pruned(t *testing.T, observations []plan.Observation, removals ...plan.Removal) *plan.Plan {
	t.Helper()
	p, err := plan.Build(plan.Input{Cluster: plan.Cluster{Name: "prod", UID: "k"}, Prune: true, Owner: "kustomization/flux-system/apps",
		Observations: observations, Removals: removals})
	assert.NilError(t, err)
	return p
}

func TestWhatLeftTheManifestsIsDeletedKeptGoneOrUnknown(t *testing.T) {
	kept, gone, unknown := removal(t, "kept"), removal(t, "gone"), removal(t, "unknown")
	kept.Kept, gone.Live = "kustomize.toolkit.fluxcd.io/prune: disabled", nil
	unknown.Live, unknown.Failure = nil, &plan.Failure{Reason: plan.ReasonUnknownKind, Message: "nobody knows the kind"}
	p := pruned(t, nil, removal(t, "old"), kept, gone, unknown)
	assert.Equal(t, plan.Text(p), "- shop/ConfigMap/old (delete)\n"+
		"= shop/ConfigMap/kept (none): kustomize.toolkit.fluxcd.io/prune: disabled\n"+
		"! shop/ConfigMap/unknown (error): UnknownKind: nobody knows the kind\n")
	assert.Assert(t, !p.Complete())
	assert.Equal(t, riskText(p.Changes[0].Risks), "delete\nprune")
	assert.Assert(t, p.Changes[0].Reversible)
	assert.Equal(t, p.Changes[0].Body.LiveUID, "u-old")
}

func TestADeleteHashesTheSameWhateverElseOthersWrite(t *testing.T) {
	calm, noisy := removal(t, "old"), removal(t, "old")
	noisy.Live = object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: old, namespace: shop, uid: u-old, resourceVersion: "9",
		annotations: {scraped: yesterday}}, data: {a: "1", b: "2"}}`)
	assert.Equal(t, pruned(t, nil, calm).Hash, pruned(t, nil, noisy).Hash)
	again := removal(t, "old")
	again.Live = object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: old, namespace: shop, uid: u-other}}`)
	assert.Assert(t, pruned(t, nil, calm).Hash != pruned(t, nil, again).Hash)
	guarded := removal(t, "old")
	guarded.Deletion.Guards = map[string]string{"kustomize.toolkit.fluxcd.io/prune": "enabled"}
	assert.Assert(t, pruned(t, nil, calm).Hash != pruned(t, nil, guarded).Hash)
}

func TestADeleteOfWhatHelmWasToldToKeepSaysSo(t *testing.T) {
	for value, want := range map[string]string{"keep": "delete: Helm was told to keep it\nprune", " Keep ": "delete: Helm was told to keep it\nprune", "": "delete\nprune"} {
		r := removal(t, "old")
		r.Deletion.Guards = map[string]string{"helm.sh/resource-policy": value}
		assert.Equal(t, riskText(pruned(t, nil, r).Changes[0].Risks), want)
	}
	r := namespaceRemoval(t)
	r.Deletion.Guards = map[string]string{"helm.sh/resource-policy": "keep"}
	assert.Equal(t, pruned(t, nil, r).Changes[0].Risks[0].Detail,
		"deletes Namespace shop, which contains 0 objects of this plan and 2 others (PVC not-in-git); Helm was told to keep it")
}

func TestADeletedNamespaceSaysWhatDiesWithIt(t *testing.T) {
	web := observation(t, "web", `data: {a: "1"}`, `data: {a: "1"}`)
	p := pruned(t, []plan.Observation{web}, namespaceRemoval(t))
	c := p.Changes[0]
	assert.Equal(t, plan.DeletionText(c.Body), "deletes Namespace shop, which contains 1 object of this plan and 1 other (PVC not-in-git)")
	assert.Equal(t, riskText(c.Risks), "delete: "+plan.DeletionText(c.Body)+"\nprune\nstorage: deletes 1 volume")
	assert.Assert(t, !c.Reversible && !p.Reversible)
	assert.DeepEqual(t, p.Unchanged[0].Notes, []string{"its namespace shop is deleted by this plan, and the object with it"})

	data, err := plan.Encode(p)
	assert.NilError(t, err)
	read, err := plan.Decode(data)
	assert.NilError(t, err)
	assert.Equal(t, riskText(read.Changes[0].Risks), riskText(c.Risks)) // who approves sees the same
	without := pruned(t, nil, namespaceRemoval(t))
	assert.Assert(t, without.Hash != p.Hash)
}

func TestBeforeHoldsWhatWouldBeDeleted(t *testing.T) {
	r := removal(t, "old")
	before, err := plan.Before(pruned(t, nil, r), nil, r)
	assert.NilError(t, err)
	assert.Equal(t, string(before), `[{"group":"","kind":"ConfigMap","name":"old","namespace":"shop",`+
		`"object":{"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"name":"old","namespace":"shop"}},"version":"v1"}]`)
}

// owned is an update past an owner: b changes, c is added.
func owned(t *testing.T, owners ...plan.Owner) plan.Observation {
	o := observation(t, "web", `data: {a: "1", b: "1"}`, `data: {a: "1", b: "2", c: "3"}`)
	o.Owners = owners
	o.Holders = map[string]plan.Holder{"data.a": {Manager: "kustomize-controller"}, "data.b": {Manager: "kustomize-controller"}}
	return o
}

func fluxApps() plan.Owner {
	return plan.Owner{Name: "kustomization/flux-system/apps", Applier: "flux", Manager: "kustomize-controller", Verified: true}
}

func TestAChangePastItsOwnerSaysWhatBecomesOfIt(t *testing.T) {
	ghost := plan.Owner{Name: "application/argocd/ghost", Applier: "argocd", Why: "it does not exist"}
	for name, c := range map[string]struct {
		owners []plan.Owner
		owner  string
		notes  []string
	}{
		"nobody's": {},
		"owned": {owners: []plan.Owner{fluxApps()}, owner: "kustomization/flux-system/apps", notes: []string{
			"the next sync of kustomization/flux-system/apps reverts data.b unless Git has the same by then",
			"kustomization/flux-system/apps never touches data.c, so it stays, and Git will never know it"}},
		"claimed": {owners: []plan.Owner{ghost}, notes: []string{"owner application/argocd/ghost is claimed, not verified: it does not exist"}},
		"two": {owners: []plan.Owner{ghost, fluxApps()}, owner: "kustomization/flux-system/apps", notes: []string{
			"conflict: it belongs to more than one owner: application/argocd/ghost and kustomization/flux-system/apps",
			"owner application/argocd/ghost is claimed, not verified: it does not exist",
			"the next sync of kustomization/flux-system/apps reverts data.b unless Git has the same by then",
			"kustomization/flux-system/apps never touches data.c, so it stays, and Git will never know it"}},
	} {
		t.Run(name, func(t *testing.T) {
			change := build(t, owned(t, c.owners...)).Changes[0]
			assert.Equal(t, change.Owner, c.owner)
			assert.DeepEqual(t, change.Notes, c.notes)
			assert.Equal(t, strings.Contains(riskText(change.Risks), "gitops-owned"), len(c.owners) > 0)
		})
	}
}

func TestThePlanOfAnOwnerDoesNotWarnOfItself(t *testing.T) {
	own := pruned(t, []plan.Observation{owned(t, fluxApps())}).Changes[0]
	assert.Equal(t, own.Owner, "kustomization/flux-system/apps")
	assert.Assert(t, len(own.Notes) == 0 && len(own.Risks) == 0, "%v %v", own.Notes, own.Risks)

	other := fluxApps()
	other.Name = "kustomization/flux-system/infra"
	foreign := pruned(t, []plan.Observation{owned(t, other)}).Changes[0]
	assert.DeepEqual(t, foreign.Notes, []string{"it belongs to kustomization/flux-system/infra, and this plan is made for kustomization/flux-system/apps"})
	assert.Equal(t, riskText(foreign.Risks), "gitops-owned: kustomization/flux-system/infra")
}
