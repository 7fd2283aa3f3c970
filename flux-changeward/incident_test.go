package main

import (
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/changeward/changeward/pkg/kubetest"
)

// child is metadata and spec of what Kustomization cluster applies.
func child(name, spec string) string {
	return "  labels: {kustomize.toolkit.fluxcd.io/name: cluster, kustomize.toolkit.fluxcd.io/namespace: flux-system}\nspec: {path: ./" + name + spec + "}"
}

const inventory = `spec: {path: ./}
status: {inventory: {entries: [{id: flux-system_child_kustomize.toolkit.fluxcd.io_Kustomization, v: v1}, {id: flux-system_free_kustomize.toolkit.fluxcd.io_Kustomization, v: v1}]}}`

func TestAnIncidentSuspendsItsOwnersAndWhatWouldResumeThem(t *testing.T) {
	w := incidentWorld(t)
	w.kustomization("cluster", inventory)
	w.kustomization("child", child("child", ", suspend: false"))
	w.kustomization("free", child("free", ""))
	got := w.as("alice", "start", "child", "--reason", "down", "--ticket", "INC-7", "--until", "4h", "--yes", "-o", "json").exits(t, 0, "would resume it")
	started := got.document(t, "Incident")
	id := started["id"].(string)
	for _, name := range []string{"child", "cluster"} {
		o := w.owner("kustomizations", name)
		assert.Assert(t, suspended(o), name)
		assert.Equal(t, o.GetAnnotations()["fluxcd.controlplane.io/suspendedBy"], "alice")
		assert.Equal(t, o.GetAnnotations()["changeward.dev/incident"], id)
	}
	assert.Assert(t, !suspended(w.owner("kustomizations", "free")))
	w.as("alice", "start", "child", "--reason", "down", "-o", "json").exits(t, 0, "going on with incident "+id)
	w.as("carol", "start", "free", "child", "--reason", "mine", "--yes").exits(t, 1, "incident "+id+" is open on some of these already, by alice")
	w.as("carol", "start", "free", "--reason", "slow", "--yes").exits(t, 0, "does not set its spec.suspend, so that it goes on", "kustomization/flux-system/free: suspended")
	w.as("carol", "status").exits(t, 1, "2 incidents are open: name one of i_", id)
	w.as("carol", "status", "child").exits(t, 0, "ticket: INC-7", "kustomization/flux-system/cluster: suspended (would resume another)")
	status := w.as("carol", "status", id, "-o", "json").exits(t, 0).document(t, "Incident")
	assert.Equal(t, status["status"], "open")
	list := w.as("carol", "list", "-o", "json").exits(t, 0).document(t, "IncidentList")
	assert.Equal(t, len(list["items"].([]any)), 2)
	w.as("carol", "list", "--overdue").exits(t, 0)
}

func TestAnIncidentTakesOverWhatPeopleSuspendedBeforeTheyAsked(t *testing.T) {
	w := incidentWorld(t)
	w.kustomization("apps", "spec: {path: ./apps, suspend: true}")
	w.kustomization("bobs", "  annotations: {fluxcd.controlplane.io/suspendedBy: bob}\nspec: {path: ./b, suspend: true}")
	w.kustomization("late", "")
	w.Apply(t, kubetest.Admin, "helm", "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: cart, namespace: flux-system}, spec: {suspend: true}}")
	w.as("alice", "start", "apps", "bobs", "--reason", "down", "--yes").exits(t, 1, "kustomization/flux-system/bobs: it is suspended already, by bob")
	assert.Equal(t, w.owner("kustomizations", "apps").GetAnnotations()["changeward.dev/incident"], "", "all or nothing")
	w.as("alice", "start", "apps", "hr/cart", "--reason", "down", "--yes").exits(t, 0, "kustomization/flux-system/apps: suspended (was suspended before)",
		"helmrelease/flux-system/cart: suspended (was suspended before)")
	w.as("alice", "start", "late", "--reason", "no records", "--no-record", "--yes").exits(t, 0, "incident without a record", "run this again without --no-record")
	assert.Assert(t, suspended(w.owner("kustomizations", "late")))
	w.as("carol", "start", "late", "--reason", "mine", "--yes").exits(t, 1, "it is suspended already, by alice")
	w.as("alice", "start", "late", "--reason", "now with a record", "--until", "1s", "--yes").exits(t, 0, "late: suspended (was suspended before)")
	w.resume("late")
	w.as("alice", "status", "late").exits(t, 0, "late: running", "is not suspended: Flux puts back what was changed by hand")
	assert.NilError(t, w.owners("helmreleases").Delete(t.Context(), "cart", metav1.DeleteOptions{}))
	w.as("alice", "status", "apps").exits(t, 0, "helmrelease/flux-system/cart: gone")
	w.overdue(t)
}

func (w world) resume(name string) {
	w.t.Helper()
	_, err := w.owners("kustomizations").Patch(w.t.Context(), name, types.MergePatchType, []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{})
	assert.NilError(w.t, err)
}

func (w world) overdue(t *testing.T) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if w.as("carol", "list", "--overdue").code == 0 {
			return poll.Continue("its second is not over")
		}
		return poll.Success()
	})
	got := w.as("carol", "list", "--overdue", "-o", "json").exits(t, 3)
	items := got.document(t, "IncidentList")["items"].([]any)
	assert.Equal(t, len(items), 1)
	assert.Equal(t, items[0].(map[string]any)["status"], "overdue")
}

func TestWhatCannotBeSuspendedIsNamedBeforeAnythingIs(t *testing.T) {
	w := incidentWorld(t)
	w.kustomization("apps", "")
	for _, c := range []struct {
		who, want string
		args      []string
	}{
		{"alice", "an incident needs a --reason", []string{"apps"}},
		{"alice", "not a deployment", []string{"deployment/apps", "--reason", "x"}},
		{"alice", "want NAME, KIND/NAME or KIND/NAMESPACE/NAME", []string{"a/b/c/d", "--reason", "x"}},
		{"alice", "it does not exist", []string{"nobody", "--reason", "x"}},
		{"alice", "it does not exist in namespace shop, but in flux-system", []string{"apps", "-n", "shop", "--reason", "x"}},
		{"alice", "want how long it may take, such as 4h or 2d", []string{"apps", "--reason", "x", "--until", "tomorrow"}},
		{"dave", "you may not patch it", []string{"apps", "--reason", "x", "--no-record"}},
	} {
		w.as(c.who, append([]string{"start", "--yes"}, c.args...)...).exits(t, 1, c.want)
		assert.Assert(t, !suspended(w.owner("kustomizations", "apps")), c.want)
	}
	w.as("alice", "status").exits(t, 1, "no incident is open")
	w.as("alice", "status", "i_0123456789ab").exits(t, 1, `no incident "i_0123456789ab"`)
}
