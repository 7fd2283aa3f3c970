package gitops_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

func kustomizations() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}
}

// of are the lines about one object.
func of(p *plan.Plan, name string) []string {
	all := lines(p)
	from := slices.IndexFunc(all, func(line string) bool { return !strings.HasPrefix(line, " ") && strings.Contains(line, "/"+name+" ") })
	if from < 0 {
		return nil
	}
	to := from + 1
	for to < len(all) && strings.HasPrefix(all[to], " ") {
		to++
	}
	return all[from:to]
}

func TestClaimsOfOwnershipHoldOnlyIfTheOwnerSaysSo(t *testing.T) {
	load(t, fluxManager, "B57-ownership-claims.live.yaml")
	c := cluster(t)
	c.Apply(t, kubetest.Admin, "test", `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
status: {resources: [{version: v1, kind: ConfigMap, namespace: team-a, name: b57-argo}, {version: v1, kind: ConfigMap, namespace: team-a, name: b57-two-owners}, {version: v1, kind: ConfigMap, namespace: team-a, name: b57-label-only}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {prune: true}
status: {inventory: {entries: [{id: team-a_b57-two-owners__ConfigMap, v: v1}]}}
`)
	got := planner{}.planned(t, caseFile(t, "B57-ownership-claims.yaml"))
	const update, added = " (update)", `  + data.k: "direct-change"`
	for _, want := range [][]string{
		{"~ team-a/ConfigMap/b57-argo" + update, added, "  owner application/argocd/shop",
			"  ! gitops-owned: application/argocd/shop",
			"  note: application/argocd/shop never touches data.k, so it stays, and Git will never know it"},
		{"~ team-a/ConfigMap/b57-label-only" + update, added},
		{"~ team-a/ConfigMap/b57-forged-flux" + update, added,
			"  ! gitops-owned: kustomization/flux-system/ghost (claimed, not verified)",
			"  note: owner kustomization/flux-system/ghost is claimed, not verified: it does not exist"},
		{"~ team-a/ConfigMap/b57-two-owners" + update, added, "  owner kustomization/flux-system/apps, application/argocd/shop",
			"  ! gitops-owned: kustomization/flux-system/apps, application/argocd/shop",
			"  note: conflict: it belongs to more than one owner: kustomization/flux-system/apps and application/argocd/shop",
			"  note: kustomization/flux-system/apps never touches data.k, so it stays, and Git will never know it",
			"  note: application/argocd/shop never touches data.k, so it stays, and Git will never know it"},
		{"~ team-a/ConfigMap/b57-wrong-self" + update, added,
			"  note: its tracking-id names another object, so it is not owned by Argo CD's shop"},
		{"+ team-a/ConfigMap/b57-claim-in-manifest (create)",
			`  ! gitops-owned: claims an owner: metadata.annotations["argocd.argoproj.io/tracking-id"] = "payments:/ConfigMap:team-a/b57-claim-in-manifest", ` +
				`claims an owner: metadata.labels["kustomize.toolkit.fluxcd.io/name"] = "payments", claims an owner: metadata.labels["kustomize.toolkit.fluxcd.io/namespace"] = "flux-system"`},
	} {
		name, _, _ := strings.Cut(want[0][strings.Index(want[0], "b57"):], " ")
		assert.DeepEqual(t, of(got, name), want)
	}
}

func TestAChangeOfAFieldThatFluxHoldsIsPutBack(t *testing.T) {
	kustomization(t, "holds", "team-a_holds__ConfigMap")
	cluster(t).Apply(t, kubetest.Admin, fluxManager, configMap("holds", "team-a", labels("holds")))
	cluster(t).Apply(t, kubetest.Admin, "changeward", `{apiVersion: v1, kind: ConfigMap, metadata: {name: holds, namespace: team-a}, data: {b: "1"}}`)
	got := planner{}.planned(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: holds, namespace: team-a}, data: {b: "2", c: "3"}}`)
	assert.DeepEqual(t, of(got, "holds"), []string{"~ team-a/ConfigMap/holds (update)", `  data.b: "1" → "2"`, `  + data.c: "3"`,
		"  owner kustomization/flux-system/holds", "  ! gitops-owned: kustomization/flux-system/holds",
		"  note: kustomization/flux-system/holds never touches data.b, data.c, so it stays, and Git will never know it"})
}

func TestWhatAnotherOwnerHasIsSaidInThePlanOfAnOwner(t *testing.T) {
	kustomization(t, "theirs", "team-a_theirs__ConfigMap")
	cluster(t).Apply(t, kubetest.Admin, fluxManager, configMap("theirs", "team-a", labels("theirs")))
	mine := kustomization(t, "mine")
	got := mine.planned(t, configMap("theirs", "team-a", ""))
	title := of(got, "theirs")
	assert.Assert(t, slices.Contains(title, "  ! gitops-owned: kustomization/flux-system/theirs"), "%v", title)
	assert.Assert(t, slices.Contains(title, "  note: it belongs to kustomization/flux-system/theirs, and this plan is made for kustomization/flux-system/mine"), "%v", title)
}

func TestAHelmReleaseIsSeenAndNotLookedInto(t *testing.T) {
	cluster(t).Apply(t, kubetest.Admin, "helm", configMap("helmed", "team-a",
		"labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: team-a}"))
	cluster(t).Apply(t, kubetest.Admin, "helm-controller", configMap("released", "team-a",
		"labels: {helm.toolkit.fluxcd.io/name: web, helm.toolkit.fluxcd.io/namespace: team-a, app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: web}"),
		"{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: web, namespace: team-a}, status: {inventory: {entries: [{id: team-a_released__ConfigMap, v: v1}]}}}")
	got := planner{}.planned(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: helmed, namespace: team-a}, data: {b: "1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: released, namespace: team-a}, data: {b: "1"}}`)
	assert.DeepEqual(t, of(got, "helmed")[2:], []string{"  ! gitops-owned: helm/team-a/web (claimed, not verified)",
		"  note: owner helm/team-a/web is claimed, not verified: what a release of Helm holds is not looked into"})
	assert.DeepEqual(t, of(got, "released")[2:4], []string{"  owner helmrelease/team-a/web", "  ! gitops-owned: helmrelease/team-a/web"})
}

func TestAnOwnerThatMayNotBeReadIsAClaim(t *testing.T) {
	kustomization(t, "secretive", "team-a_secretive__ConfigMap")
	cluster(t).Apply(t, kubetest.Admin, fluxManager, configMap("secretive", "team-a", labels("secretive")))
	mayPlan(t, "claims-only")
	got := planner{user: "alice"}.planned(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: secretive, namespace: team-a}, data: {b: "1"}}`)
	assert.Equal(t, of(got, "secretive")[2], "  ! gitops-owned: kustomization/flux-system/secretive (claimed, not verified)")
	assert.Assert(t, strings.Contains(of(got, "secretive")[3], "it may not be read: "), "%v", of(got, "secretive"))
}

func TestALabelCountsOnlyWhereArgoCDTracksByLabels(t *testing.T) {
	c := cluster(t)
	maps := c.Client(kubetest.Admin).CoreV1().ConfigMaps("argocd")
	c.Apply(t, kubetest.Admin, "test", "{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cm, namespace: argocd}, data: {application.resourceTrackingMethod: label}}",
		"{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: labelled, namespace: argocd}, status: {resources: [{version: v1, kind: ConfigMap, namespace: team-a, name: labelled}]}}")
	t.Cleanup(func() { _ = maps.Delete(t.Context(), "argocd-cm", metav1.DeleteOptions{}) })
	c.Apply(t, kubetest.Admin, argoManager, configMap("labelled", "team-a", "labels: {app.kubernetes.io/instance: labelled}"))
	got := planner{}.planned(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: labelled, namespace: team-a}, data: {b: "1"}}`)
	assert.Equal(t, of(got, "labelled")[2], "  owner application/argocd/labelled")
	assert.NilError(t, maps.Delete(t.Context(), "argocd-cm", metav1.DeleteOptions{}))
	got = planner{}.planned(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: labelled, namespace: team-a}, data: {b: "1"}}`)
	assert.Equal(t, len(of(got, "labelled")), 2, "%v", of(got, "labelled"))
}

// broken is a cluster that answers every question with one failure.
type broken struct{ failure *plan.Failure }

func (b broken) Serves(string, string) bool { return true }

func (b broken) Read(context.Context, manifest.Key) (map[string]any, *plan.Failure) {
	return nil, b.failure
}

func (b broken) Named(context.Context, manifest.Key) ([]map[string]any, *plan.Failure) {
	return nil, b.failure
}

func TestALabelOfArgoCDIsNoClaimButNotedWhereItsSettingsMayNotBeRead(t *testing.T) {
	observations := []plan.Observation{{Live: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "b",
		"labels": map[string]any{"app.kubernetes.io/instance": "shop"}}}}}
	assert.NilError(t, gitops.Attribute(t.Context(), broken{&plan.Failure{Reason: plan.ReasonForbidden, Message: "no"}}, observations, nil))
	assert.Equal(t, len(observations[0].Owners), 0)
	assert.DeepEqual(t, observations[0].Notes, []string{"whether Argo CD's Application shop owns it is not known: " +
		"ConfigMap argocd-cm says whether the label app.kubernetes.io/instance counts, and it may not be read: no"})
}

// installs is a cluster with several installs of Argo CD, none where it
// usually is, or one in which nobody may look for them.
type installs struct {
	broken
	found   []map[string]any
	failure *plan.Failure
}

func (i installs) Named(context.Context, manifest.Key) ([]map[string]any, *plan.Failure) {
	return i.found, i.failure
}

func TestSettingsOfArgoCDAreNotAssumedWhereNobodyMayLookForThemOrTheyAreSeveral(t *testing.T) {
	missing := broken{&plan.Failure{Reason: plan.ReasonNotFound, Message: "not found"}}
	one := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "argocd-cm", "namespace": "a"}}
	for why, cluster := range map[string]installs{
		"ConfigMap argocd-cm may not be read":   {broken: missing, failure: &plan.Failure{Reason: plan.ReasonForbidden, Message: "no"}},
		"there are several installs of Argo CD": {broken: missing, found: []map[string]any{one, one}},
	} {
		tools, err := gitops.FindTools(t.Context(), cluster)
		assert.NilError(t, err)
		treatment, err := tools.Applier("argocd").Treat(manifest.Object{Content: one}, nil)
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(strings.Join(treatment.Notes, "\n"), why), "%v", treatment.Notes)
		assert.NilError(t, gitops.Attribute(t.Context(), cluster, []plan.Observation{{Live: one}}, nil))
	}
}

func TestAnOwnerThatCouldNotBeReadIsAnErrorSoThatNothingPassesAsNobodys(t *testing.T) {
	attribute := func(reason string) error {
		observations := []plan.Observation{{Live: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "b",
			"labels": map[string]any{"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}}}}}
		return gitops.Attribute(t.Context(), broken{&plan.Failure{Reason: reason, Message: "the dog ate it"}}, observations, nil)
	}
	for _, answer := range []string{plan.ReasonNotFound, plan.ReasonForbidden, plan.ReasonUnknownKind} {
		assert.NilError(t, attribute(answer))
	}
	assert.Error(t, attribute(plan.ReasonUnreadable), "read who owns the objects: kustomization/flux-system/apps: the dog ate it\n"+
		"read who owns the objects: ConfigMap argocd-cm, how Argo CD marks its objects: the dog ate it")
}
