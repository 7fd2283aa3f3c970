package gitops_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

const (
	fluxManager = "kustomize-controller"
	argoManager = "argocd-controller"
)

// load applies live objects as a field manager, and owners.
func load(t *testing.T, manager string, names ...string) {
	t.Helper()
	c := cluster(t)
	for _, name := range names {
		c.Apply(t, kubetest.Admin, manager, caseFile(t, name))
	}
}

func TestWhatLiveObjectsGuardIsNotDeleted(t *testing.T) {
	load(t, fluxManager, "B50-keep-annotations.live.yaml", "B50-keep-annotations.inventory.yaml", "B50-keep-annotations.argo-app.yaml")
	got := planner{owner: "kustomization/flux-system/b50"}.planned(t, caseFile(t, "B50-keep-annotations.yaml"))
	assert.DeepEqual(t, lines(got), []string{
		"- team-a/ConfigMap/b50-helm-keep (delete)",
		"  owner kustomization/flux-system/b50",
		"  ! delete: Helm was told to keep it",
		"  ! prune",
		"  note: the live object has helm.sh/resource-policy: keep, which only Helm honours: Flux deletes it; " +
			"to keep it, annotate the live object kustomize.toolkit.fluxcd.io/prune: disabled",
		"- team-a/ConfigMap/b50-plain (delete)",
		"  owner kustomization/flux-system/b50",
		"  ! delete",
		"  ! prune",
		"+ team-a/ConfigMap/b50-still-here (create)",
		"= team-a/ConfigMap/b50-flux-keep (none) Flux does not delete it: the live object has kustomize.toolkit.fluxcd.io/prune: Disabled",
	})
	assert.DeepEqual(t, got.Changes[0].Body.Delete.Guards, map[string]string{"helm.sh/resource-policy": "keep"})
	d := got.Changes[1].Body.Delete
	assert.Equal(t, d.Propagation, "background")
	assert.DeepEqual(t, d.Fields, map[string]any{"metadata": map[string]any{"labels": map[string]any{
		"kustomize.toolkit.fluxcd.io/name": "b50", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}}})

	got = planner{owner: "application/argocd/b50"}.planned(t, caseFile(t, "B50-keep-annotations.yaml"))
	assert.DeepEqual(t, lines(got)[1:], []string{
		"= team-a/ConfigMap/b50-argo-confirm (none) Argo CD neither deletes it nor goes on with the sync before someone confirms that there: sync option Prune=confirm",
		"= team-a/ConfigMap/b50-argo-keep (none) Argo CD does not delete it: sync option Prune=false",
	})
}

func TestADeletedNamespaceNamesWhatTheManifestsStillWant(t *testing.T) {
	load(t, fluxManager, "B53-namespace-prune.live.yaml", "B53-namespace-prune.inventory.yaml")
	p := planner{owner: "kustomization/flux-system/b53"}
	got := p.planned(t, caseFile(t, "B53-namespace-prune.yaml"))
	const what = "deletes Namespace b53-shop, which contains 1 object of this plan and 1 other (PVC not-in-git)"
	assert.DeepEqual(t, lines(got), []string{
		"- Namespace/b53-shop (delete)",
		"  owner kustomization/flux-system/b53",
		"  ! delete: " + what,
		"  ! prune",
		"  ! storage: deletes 1 volume",
		"= b53-shop/ConfigMap/web (none)",
	})
	c := got.Changes[0]
	assert.Equal(t, c.Why, "everything in the namespace goes with it")
	assert.DeepEqual(t, c.Body.Delete.Contents, map[string]int{"ConfigMap": 1, "PersistentVolumeClaim": 1})
	assert.Equal(t, len(c.Body.Delete.Volumes), 1)
	assert.DeepEqual(t, got.Unchanged[0].Notes, []string{"its namespace b53-shop is deleted by this plan, and the object with it"})

	cluster(t).Apply(t, kubetest.Admin, "other", `
{apiVersion: v1, kind: Secret, metadata: {name: by-hand, namespace: b53-shop}, stringData: {a: b}}`)
	more := p.planned(t, caseFile(t, "B53-namespace-prune.yaml"))
	assert.Assert(t, more.Hash != got.Hash)
	assert.Equal(t, plan.DeletionText(more.Changes[0].Body), "deletes Namespace b53-shop, which contains 1 object of this plan and 2 others (PVC not-in-git)")
}

func TestAnEmptyInputNeverMeansDeleteEverything(t *testing.T) {
	load(t, fluxManager, "B55-empty-input.inventory.yaml")
	p := planner{owner: "kustomization/flux-system/b55"}
	_, err := p.plan(t, caseFile(t, "B55-empty-input.yaml"))
	assert.Error(t, err, "no objects in input, 3 would be pruned by kustomization/flux-system/b55")
	p.empty = true
	got := p.planned(t, caseFile(t, "B55-empty-input.yaml")) // nothing of it lives
	assert.Assert(t, got.Empty() && got.Complete(), "%v", lines(got))
}
