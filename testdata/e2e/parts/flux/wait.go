package flux

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/poll"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/testdata/e2e/parts/gitserver"
)

// patience is how long the controllers may take: they are compared by what
// they do, not by how fast.
const patience = 5 * time.Minute

// Kustomizations and GitRepositories are the kinds that tests read and write.
func Kustomizations() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}
}

// GitRepositories is the kind of sources in Git.
func GitRepositories() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "gitrepositories"}
}

// Follow makes a GitRepository of a name in Namespace, for a repository's
// branch main. It is looked at when Reconcile asks for it.
func (f *Flux) Follow(t testing.TB, name string, r gitserver.Repository) {
	t.Helper()
	f.Cluster.ForceApply(t, kubetest.Admin, "test", fmt.Sprintf(`
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: %s, namespace: %s}
spec: {interval: 1h, url: %q, ref: {branch: main}}
`, name, Namespace, r.URL))
}

// Get reads an object of Namespace; nil where there is none.
func (f *Flux) Get(t testing.TB, kind schema.GroupVersionResource, name string) *unstructured.Unstructured {
	t.Helper()
	found, err := f.Cluster.Dynamic(kubetest.Admin).Resource(kind).Namespace(Namespace).Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Patch merges into an object of Namespace.
func (f *Flux) Patch(t testing.TB, kind schema.GroupVersionResource, name string, patch map[string]any) {
	t.Helper()
	data, err := json.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Cluster.Dynamic(kubetest.Admin).Resource(kind).Namespace(Namespace).Patch(t.Context(), name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: "test"})
	if err != nil {
		t.Fatal(err)
	}
}

// Reconcile asks the controller to look at an object now, as `flux reconcile`
// does, and waits until it has.
func (f *Flux) Reconcile(t testing.TB, kind schema.GroupVersionResource, name string) {
	t.Helper()
	at := time.Now().Format(time.RFC3339Nano)
	f.Patch(t, kind, name, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"reconcile.fluxcd.io/requestedAt": at}}})
	f.wait(t, kind, name, func(object *unstructured.Unstructured) bool {
		handled, _, _ := unstructured.NestedString(object.Object, "status", "lastHandledReconcileAt")
		ready, _ := Condition(object, "Ready")
		return handled == at && ready != "Unknown"
	})
}

// Fetched waits until the source of a name holds a commit.
func (f *Flux) Fetched(t testing.TB, name, commit string) {
	t.Helper()
	f.Reconcile(t, GitRepositories(), name)
	f.wait(t, GitRepositories(), name, func(object *unstructured.Unstructured) bool {
		revision, _, _ := unstructured.NestedString(object.Object, "status", "artifact", "revision")
		return strings.HasSuffix(revision, ":"+commit)
	})
}

// Settled waits until a Kustomization has tried a commit, and returns its
// condition Ready: whether it is, and what it says.
func (f *Flux) Settled(t testing.TB, name, commit string) (ready bool, message string) {
	t.Helper()
	var status string
	f.wait(t, Kustomizations(), name, func(object *unstructured.Unstructured) bool {
		attempted, _, _ := unstructured.NestedString(object.Object, "status", "lastAttemptedRevision")
		status, message = Condition(object, "Ready")
		return strings.HasSuffix(attempted, ":"+commit) && (status == "True" || status == "False")
	})
	return status == "True", message
}

// Applied waits until a Kustomization is ready at a commit.
func (f *Flux) Applied(t testing.TB, name, commit string) {
	t.Helper()
	f.wait(t, Kustomizations(), name, func(object *unstructured.Unstructured) bool {
		applied, _, _ := unstructured.NestedString(object.Object, "status", "lastAppliedRevision")
		ready, _ := Condition(object, "Ready")
		return strings.HasSuffix(applied, ":"+commit) && ready == "True"
	})
}

// wait polls an object, and says what it was like in the end.
func (f *Flux) wait(t testing.TB, kind schema.GroupVersionResource, name string, done func(*unstructured.Unstructured) bool) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		object := f.Get(t, kind, name)
		switch {
		case object == nil:
			return poll.Continue("%s %s does not exist", kind.Resource, name)
		case !done(object):
			return poll.Continue("%s %s: %v", kind.Resource, name, object.Object["status"])
		}
		return poll.Success()
	}, poll.WithTimeout(patience), poll.WithDelay(200*time.Millisecond))
}

// Condition reads a condition of an object: its status, "" where there is none,
// and its message.
func Condition(object *unstructured.Unstructured, kind string) (status, message string) {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, entry := range conditions {
		condition, _ := entry.(map[string]any)
		if condition["type"] == kind {
			status, _ = condition["status"].(string)
			message, _ = condition["message"].(string)
		}
	}
	return status, message
}
