package argocd

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/changeward/changeward/pkg/kubetest"
)

// Application is one of namespace argocd.
type Application struct {
	install *Install
	Name    string
}

// Application follows one by its name.
func (i *Install) Application(name string) Application { return Application{i, name} }

// State is an Application, as far as tests look at it.
type State struct {
	Operation *struct{} `json:"operation"`
	Status    struct {
		Sync struct {
			Status   string `json:"status"`
			Revision string `json:"revision"`
		} `json:"sync"`
		Conditions     []struct{ Type, Message string } `json:"conditions"`
		OperationState *OperationState                  `json:"operationState"`
	} `json:"status"`
}

// OperationState is what Argo CD says of the operation that it runs, or ran
// last.
type OperationState struct {
	Phase      string `json:"phase"`
	Message    string `json:"message"`
	RetryCount int64  `json:"retryCount"`
	StartedAt  string `json:"startedAt"`
	FinishedAt string `json:"finishedAt"`
	SyncResult struct {
		Revision  string `json:"revision"`
		Resources []struct {
			Kind      string `json:"kind"`
			Name      string `json:"name"`
			Status    string `json:"status"`
			HookPhase string `json:"hookPhase"`
			HookType  string `json:"hookType"`
			Message   string `json:"message"`
		} `json:"resources"`
	} `json:"syncResult"`
}

// Retrying says that a failed attempt waits for the next one.
func (o *OperationState) Retrying() bool {
	return o != nil && o.Phase == "Running" && o.FinishedAt != "" && o.RetryCount > 0
}

// Hook is what the sync says of a hook: its phase, and why.
func (o *OperationState) Hook(name string) (phase, message string) {
	if o == nil {
		return "", ""
	}
	for _, r := range o.SyncResult.Resources {
		if r.Name == name && r.HookType != "" {
			return r.HookPhase, r.Message
		}
	}
	return "", ""
}

// Succeeded says that the operation went through, with a revision.
func (o *OperationState) Succeeded(revision string) bool {
	return o != nil && o.Phase == "Succeeded" && o.SyncResult.Revision == revision
}

// Get is the Application now.
func (a Application) Get(t testing.TB) State {
	t.Helper()
	client := a.install.Cluster.Dynamic(kubetest.Admin).Resource(applications()).Namespace(Namespace)
	object, err := client.Get(t.Context(), a.Name, metav1.GetOptions{})
	assert.NilError(t, err)
	var state State
	assert.NilError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &state))
	return state
}

// Patch merges JSON into the Application.
func (a Application) Patch(t testing.TB, patch string) {
	t.Helper()
	client := a.install.Cluster.Dynamic(kubetest.Admin).Resource(applications()).Namespace(Namespace)
	_, err := client.Patch(t.Context(), a.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "test"})
	assert.NilError(t, err)
}

// Refresh has Argo CD look at the repository at once.
func (a Application) Refresh(t testing.TB) {
	t.Helper()
	a.Patch(t, `{"metadata":{"annotations":{"argocd.argoproj.io/refresh":"normal"}}}`)
}

// Await waits until the Application is as wanted, and returns it so.
func (a Application) Await(t testing.TB, what string, wanted func(State) bool) State {
	t.Helper()
	var state State
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if state = a.Get(t); wanted(state) {
			return poll.Success()
		}
		return poll.Continue("waiting for %s: sync %+v, conditions %+v, operation %+v", what, state.Status.Sync, state.Status.Conditions, state.Status.OperationState)
	}, poll.WithTimeout(3*time.Minute), poll.WithDelay(300*time.Millisecond))
	return state
}

func applications() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
}
