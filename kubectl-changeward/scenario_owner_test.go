package main

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

// gitops is a cluster of its own in which Flux and Argo CD keep objects, and
// changeward was installed after them.
func gitops(t *testing.T) world {
	t.Helper()
	w := world{kubetest.Start(t, people()...)}
	for _, name := range []string{"team-a", "flux-system", "argocd"} {
		_, err := w.Client(kubetest.Admin).CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		assert.Assert(t, err == nil || apierrors.IsAlreadyExists(err), "%v", err)
	}
	w.load(t, "stub-crds.yaml")
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		client, err := dryrun.New(w.Config(kubetest.Admin))
		assert.NilError(t, err)
		kinds, err := client.Kinds(t.Context())
		if err != nil || kinds.Preferred("kustomize.toolkit.fluxcd.io", "Kustomization") == "" || kinds.Preferred("argoproj.io", "Application") == "" {
			return poll.Continue("the kinds of owners are not served yet: %v", err)
		}
		return poll.Success()
	})
	assert.NilError(t, settle(w.Cluster))
	return w
}

func inCases(name string) string { return filepath.Join("..", "testdata", "cases", name) }

// load applies the objects of a case as Flux.
func (w world) load(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		data, err := os.ReadFile(inCases(name))
		assert.NilError(t, err)
		w.Apply(t, kubetest.Admin, "kustomize-controller", string(data))
	}
}

func TestAGatePlansWhatAnOwnerWouldDelete(t *testing.T) {
	w := gitops(t)
	w.load(t, "B50-keep-annotations.live.yaml", "B50-keep-annotations.inventory.yaml", "B50-keep-annotations.argo-app.yaml",
		"B53-namespace-prune.live.yaml", "B53-namespace-prune.inventory.yaml", "B55-empty-input.inventory.yaml")
	w.keepsWhatIsGuarded(t)
	w.refusesEmptyInput(t)
	w.approvesADeletedNamespace(t)
	w.knowsTheNamespaceThatArgoCDMakes(t)
}

func (w world) keepsWhatIsGuarded(t *testing.T) {
	args := []string{"plan", "--owner", "kustomization/flux-system/b50", "-f", inCases("B50-keep-annotations.yaml")}
	got := w.as("ci").run(t, append(args, "-o", "json")...).exits(t, 0)
	var document struct {
		Scope   string
		Prune   bool
		Changes []struct{ Operation, Name, Source, Skipped string }
	}
	got.json(t, &document)
	assert.Equal(t, document.Scope, "kustomization/flux-system/b50")
	assert.Assert(t, document.Prune)
	for i, name := range []string{"b50-helm-keep", "b50-plain"} {
		change := document.Changes[i]
		assert.Equal(t, change.Operation+" "+change.Name+" "+change.Source, "delete "+name+" kustomization/flux-system/b50")
	}
	w.as("ci").run(t, args...).exits(t, 0).prints(t, "guard helm.sh/resource-policy: \"keep\"", "which only Helm honours: Flux deletes it", "- team-a/ConfigMap/b50-plain (delete, owner kustomization/flux-system/b50)\n",
		"propagation: background", "= team-a/ConfigMap/b50-flux-keep (left alone: Flux does not delete it: the live object has kustomize.toolkit.fluxcd.io/prune: Disabled)")
}

func (w world) refusesEmptyInput(t *testing.T) {
	args := []string{"gate", "--owner", "kustomization/flux-system/b55", "-f", inCases("B55-empty-input.yaml")}
	w.as("ci").run(t, args...).exits(t, 1).tells(t, "error: no objects in input, 3 would be pruned by kustomization/flux-system/b55\n", "--allow-empty")
	w.as("ci").run(t, append(args, "--allow-empty")...).exits(t, 0) // none of them lives
	for _, bad := range [][]string{{"--scope", "x"}, {"--owner", "kustomization/b55"}, {"--owner", "deployment/a/b"}} {
		w.as("ci").run(t, append(args, bad...)...).exits(t, 1).tells(t, "error: ")
	}
	w.as("ci").run(t, "plan", "-f", inCases("B55-empty-input.yaml")).exits(t, 1)
	w.as("ci").run(t, "plan", "--allow-empty", "-f", inCases("B50-keep-annotations.yaml")).exits(t, 1).tells(t, "without --owner nothing is deleted")
	got := w.as("ci").run(t, "plan", "--owner", "kustomization/flux-system/nobody", "-f", inCases("B50-keep-annotations.yaml"), "-o", "json").exits(t, 1)
	assert.Equal(t, got.is(t, "Error")["reason"], "NotFound")
}

func (w world) approvesADeletedNamespace(t *testing.T) {
	gate := []string{"gate", "--owner", "kustomization/flux-system/b53", "-f", inCases("B53-namespace-prune.yaml")}
	const what = "deletes Namespace b53-shop, which contains 1 object of this plan and 1 other (PVC not-in-git)"
	got := w.as("ci").run(t, gate...).exits(t, 2).prints(t, what, "- Namespace/b53-shop (delete", "dies with it: 1 × PersistentVolumeClaim",
		"not reversible: everything in the namespace goes with it", "! storage", "note: its namespace b53-shop is deleted by this plan, and the object with it")
	id := idOf(t, got)
	hash, _ := w.as("alice").run(t, "show", id, "-o", "json").exits(t, 0).is(t, "ChangeRequest")["plan"].(map[string]any)["hash"].(string)
	w.as("alice").run(t, "approve", id, "--yes", "--confirm", hash[len(hash)-4:]).exits(t, 0).tells(t, what)
	_, err := w.Client(kubetest.Admin).CoreV1().Namespaces().Patch(t.Context(), "b53-shop", "application/merge-patch+json",
		[]byte(`{"metadata":{"annotations":{"scraped":"now"}}}`), metav1.PatchOptions{FieldManager: "monitor"})
	assert.NilError(t, err)
	w.as("ci").run(t, gate...).exits(t, 0).prints(t, id, "approved by alice")
	_, err = w.Client(kubetest.Admin).CoreV1().Namespaces().Get(t.Context(), "b53-shop", metav1.GetOptions{})
	assert.NilError(t, err) // a gate deletes nothing
}

// knowsTheNamespaceThatArgoCDMakes approves it before the sync, and gates again
// in the sync, when it is there.
func (w world) knowsTheNamespaceThatArgoCDMakes(t *testing.T) {
	w.Apply(t, kubetest.Admin, "argocd-server", `{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: fresh, namespace: argocd}, spec: {project: default, `+
		`destination: {server: "https://kubernetes.default.svc", namespace: fresh}, syncPolicy: {syncOptions: [CreateNamespace=true]}}}`)
	file := filepath.Join(t.TempDir(), "web.yaml")
	assert.NilError(t, os.WriteFile(file, []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: fresh, labels: {}}, data: {a: b}}"), 0o600))
	gate := []string{"gate", "--owner", "application/argocd/fresh", "-f", file}
	got := w.as("ci").run(t, gate...).exits(t, 2).prints(t, "+ Namespace/fresh (create", "note: applied before this gate: ",
		"+ fresh/ConfigMap/web (create", "its namespace is created by this plan")
	id := idOf(t, got)
	w.as("alice").run(t, "approve", id, "--yes").exits(t, 0)
	w.Apply(t, kubetest.Admin, "argocd-controller", "{apiVersion: v1, kind: Namespace, metadata: {name: fresh}}")
	w.as("ci").run(t, gate...).exits(t, 0).prints(t, id, "approved by alice")
}
