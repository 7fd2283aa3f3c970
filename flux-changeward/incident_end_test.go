package main

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/changeward/changeward/pkg/kubetest"
)

// statusWriter answers requests to reconcile as kustomize-controller does in the
// status, and applies nothing. It says in which order it did.
type statusWriter struct {
	mutex    sync.Mutex
	answered []string
}

// answers starts it until the test ends.
func (w world) answers(t *testing.T) *statusWriter {
	t.Helper()
	s, owners := &statusWriter{}, w.owners("kustomizations")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	t.Cleanup(func() { stop(); <-done })
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if list, err := owners.List(ctx, metav1.ListOptions{}); err == nil {
				for i := range list.Items {
					s.answer(ctx, owners, &list.Items[i])
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return s
}

func (s *statusWriter) answer(ctx context.Context, owners dynamic.ResourceInterface, o *unstructured.Unstructured) {
	asked := o.GetAnnotations()["reconcile.fluxcd.io/requestedAt"]
	handled, _, _ := unstructured.NestedString(o.Object, "status", "lastHandledReconcileAt")
	if asked == handled || suspended(o) {
		return
	}
	status, _, _ := unstructured.NestedMap(o.Object, "status")
	if status == nil {
		status = map[string]any{}
	}
	status["lastHandledReconcileAt"], status["lastAppliedRevision"] = asked, "main@sha1:4fd3a91"
	status["observedGeneration"] = o.GetGeneration() + 1 // the stub has no subresource, so that this write counts
	status["conditions"] = []any{map[string]any{"type": "Ready", "status": "True"}}
	o.Object["status"] = status
	if _, err := owners.Update(ctx, o, metav1.UpdateOptions{FieldManager: "kustomize-controller"}); err == nil {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.answered = append(s.answered, o.GetName())
	}
}

func (s *statusWriter) order() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.answered)
}

func TestAnIncidentEndsInTheOrderOfDependenciesAndOnlyWithItsOwn(t *testing.T) {
	w := incidentWorld(t)
	w.kustomization("cluster", inventory)
	w.kustomization("child", child("child", ", suspend: false, dependsOn: [{name: infra}]"))
	for _, name := range []string{"infra", "gone", "taken"} {
		w.kustomization(name, "")
	}
	w.as("alice", "start", "child", "infra", "gone", "taken", "--reason", "down", "--yes").exits(t, 0)
	assert.NilError(t, w.owners("kustomizations").Delete(t.Context(), "gone", metav1.DeleteOptions{}))
	_, err := w.owners("kustomizations").Patch(t.Context(), "taken", types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"fluxcd.controlplane.io/suspendedBy":"bob","changeward.dev/incident":null}}}`), metav1.PatchOptions{})
	assert.NilError(t, err)
	w.as("alice", "end", "--timeout", "2s", "--yes").exits(t, 1, "flux-system/infra: it is not ready after 2s: its controller has not answered the request; does it run?", "the incident stays open")
	assert.Assert(t, suspended(w.owner("kustomizations", "child")), "what depends on it waits")
	writer := w.answers(t)
	got := w.as("alice", "end", "--timeout", "2m", "--yes", "-o", "json").exits(t, 0, "gone was deleted: there is nothing to resume", "taken stays suspended: somebody else suspended it since")
	ended := got.document(t, "Incident")
	assert.Equal(t, ended["status"], "ended")
	assert.Equal(t, ended["owners"].([]any)[0].(map[string]any)["revision"], "main@sha1:4fd3a91")
	assert.DeepEqual(t, slices.Compact(writer.order()), []string{"infra", "child", "cluster"})
	assert.Assert(t, suspended(w.owner("kustomizations", "taken")))
	for _, name := range writer.order() {
		o := w.owner("kustomizations", name)
		assert.Assert(t, !suspended(o), name)
		_, marked := o.GetAnnotations()["changeward.dev/incident"]
		_, by := o.GetAnnotations()["fluxcd.controlplane.io/suspendedBy"]
		assert.Assert(t, !marked && !by, name)
	}
	w.as("alice", "end", "--yes").exits(t, 1, "no incident is open")
	w.as("alice", "end", ended["id"].(string), "--yes").exits(t, 0, "ended by: alice")
}

func TestNothingIsResumedWhileGitLacksAChange(t *testing.T) {
	w := incidentWorld(t)
	const conf = "{apiVersion: v1, kind: ConfigMap, metadata: {name: conf, namespace: flux-system, labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}}, data: {flag: "
	w.kustomization("apps", "spec: {path: ./apps}\nstatus: {inventory: {entries: [{id: flux-system_conf__ConfigMap, v: v1}]}}")
	w.Apply(t, kubetest.Admin, "kustomize-controller", conf+`"off"}}`)
	w.as("alice", "start", "apps", "--reason", "down", "--yes").exits(t, 0)
	w.ForceApply(t, kubetest.Admin, "kubectl-edit", conf+`"on"}}`)
	w.as("alice", "end", "--yes").exits(t, 3, "flux-system/ConfigMap/conf: changed past changeward, by kubectl-edit", "nothing is resumed", "for the morning: `kubectl changeward reconcile", "once that is merged `flux changeward incident end i_")
	got := w.as("alice", "end", "--yes", "-o", "json").exits(t, 3)
	assert.Equal(t, got.document(t, "Incident")["status"], "open")
	assert.Assert(t, suspended(w.owner("kustomizations", "apps")))
	w.as("alice", "end", "--force", "--yes").exits(t, 1, "--force needs a --reason")
	w.answers(t)
	w.as("alice", "end", "--force", "--reason", "not wanted", "--timeout", "2m", "--yes").exits(t, 0, "ended by: alice")
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if suspended(w.owner("kustomizations", "apps")) {
			return poll.Continue("it is suspended")
		}
		return poll.Success()
	})
	listed := w.as("alice", "list", "--all", "-o", "json").exits(t, 0).document(t, "IncidentList")["items"].([]any)
	assert.Equal(t, listed[0].(map[string]any)["forced"], true)
}
