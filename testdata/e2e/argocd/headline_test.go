package argocd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/testdata/e2e/parts/argocd"
	"github.com/changeward/changeward/testdata/e2e/parts/kubelet"
)

// integration is a file that users copy, with the values that they change.
func (w world) integration(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "integrations", "argocd", name))
	assert.NilError(t, err)
	return strings.NewReplacer("https://forge.example.com/team/config", w.repository.URL, "duration: 30s", "duration: 3s", "maxDuration: 5m", "maxDuration: 5s").
		Replace(string(text))
}

func configMap(name, data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: " + data + "\n"
}

// waits waits until the sync of a revision has been stopped by the gate, and
// returns the change request that it waits for.
func (w world) waits(t *testing.T, app argocd.Application, revision string) (id string, log kubelet.Log) {
	t.Helper()
	app.Await(t, "a sync that waits for an approval", func(s argocd.State) bool {
		o := s.Status.OperationState
		phase, message := o.Hook("changeward-gate")
		return o.Retrying() && o.SyncResult.Revision == revision && phase == "Failed" && strings.Contains(message, "exit code 2")
	})
	logs := w.kubelet.Logs(namespace, "changeward-gate")
	log = logs[len(logs)-1]
	assert.Equal(t, log.ExitCode, 2, log.Output)
	found := regexp.MustCompile(`^waiting for approval (c_[0-9a-f]{12}) #\d+: production Kubernetes syncs need SRE approval`).FindStringSubmatch(log.Message)
	assert.Assert(t, found != nil, "%q\n%s", log.Message, log.Output)
	return found[1], log
}

func (w world) live(t *testing.T, name string) *corev1.ConfigMap {
	t.Helper()
	live, err := w.Client(kubetest.Admin).CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	assert.NilError(t, err)
	return live
}

func TestASyncWaitsUntilItsPlanIsApproved(t *testing.T) {
	w := newWorld(t, nil)
	app := w.argo.Application("shop")
	first := w.repository.Commit(t, map[string]string{"apps/shop/gate.yaml": w.integration(t, "presync-gate.yaml"),
		"apps/shop/config.yaml": configMap("shop-config", `{feature_new_cart: "false"}`)})
	w.Apply(t, kubetest.Admin, "test", w.integration(t, "application.yaml"))

	// The gate itself is a hook that nobody has seen before.
	id, log := w.waits(t, app, first)
	assert.Assert(t, strings.Contains(log.Output, "Job/changeward-gate (PreSync"), log.Output)
	assert.Assert(t, w.live(t, "shop-config") == nil)
	w.as("alice").approve(t, id)
	app.Await(t, "the approved sync", func(s argocd.State) bool { return s.Status.OperationState.Succeeded(first) })
	assert.Equal(t, w.live(t, "shop-config").Data["feature_new_cart"], "false")

	second := w.repository.Commit(t, map[string]string{"apps/shop/more.yaml": configMap("more", `{a: b}`)})
	app.Refresh(t)
	state := app.Await(t, "a reversible create", func(s argocd.State) bool { return s.Status.OperationState.Succeeded(second) })
	assert.Equal(t, state.Status.OperationState.RetryCount, int64(0))

	w.flagChangeWaits(t, app)
	w.gateIsHarmless(t, id)
}

// flagChangeWaits changes one value, which an SRE must see.
func (w world) flagChangeWaits(t *testing.T, app argocd.Application) {
	revision := w.repository.Commit(t, map[string]string{"apps/shop/config.yaml": configMap("shop-config", `{feature_new_cart: "true"}`)})
	app.Refresh(t)
	id, log := w.waits(t, app, revision)
	assert.Assert(t, strings.Contains(log.Output, `data.feature_new_cart: "false" → "true"`), log.Output)
	assert.Equal(t, w.live(t, "shop-config").Data["feature_new_cart"], "false")
	shown := w.as("alice").run(t, 0, "show", id)
	assert.Assert(t, strings.Contains(shown, `data.feature_new_cart: "false" → "true"`) && strings.Contains(shown, revision), shown)
	w.as("alice").approve(t, id)
	state := app.Await(t, "the retry that passes", func(s argocd.State) bool { return s.Status.OperationState.Succeeded(revision) })
	assert.Assert(t, state.Status.OperationState.RetryCount > 0)
	assert.Equal(t, w.live(t, "shop-config").Data["feature_new_cart"], "true")
}

// gateIsHarmless tries with the gate's own token what it must not be able to do.
func (w world) gateIsHarmless(t *testing.T, id string) {
	config := rest.AnonymousClientConfig(w.Config(kubetest.Admin))
	config.BearerToken = w.Token(t, namespace, "changeward-gate")
	gate := kubernetes.NewForConfigOrDie(config).CoreV1()
	_, err := gate.ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{})
	assert.Assert(t, apierrors.IsForbidden(err), "%v", err)
	err = gate.ConfigMaps(namespace).Delete(t.Context(), "shop-config", metav1.DeleteOptions{})
	assert.Assert(t, apierrors.IsForbidden(err), "%v", err)
	_, err = gate.ConfigMaps("changeward").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cw-decision-x"}}, metav1.CreateOptions{})
	assert.Assert(t, apierrors.IsForbidden(err), "%v", err)
	_, err = gate.Secrets("argocd").List(t.Context(), metav1.ListOptions{})
	assert.Assert(t, apierrors.IsForbidden(err), "%v", err)
}
