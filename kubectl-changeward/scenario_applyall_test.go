package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
)

// bundle is a set of manifests with a namespace and a kind of its own.
const bundle = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NAME-hooks}
webhooks:
- name: nothing.NAME.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {url: "https://127.0.0.1:1/"}
  objectSelector: {matchLabels: {nobody: has-this}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAME}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: web
      containers: [{name: web, image: "example.com/web:1"}]
---
apiVersion: NAME.example.com/v1
kind: Basket
metadata: {name: first, namespace: NAME}
spec: {size: 3}
---
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: NAME}
stringData: {password: marker-bundle}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, namespace: NAME}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web, namespace: NAME}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web, namespace: NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}
subjects: [{kind: ServiceAccount, name: web, namespace: NAME}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: baskets.NAME.example.com}
spec:
  group: NAME.example.com
  scope: Namespaced
  names: {plural: baskets, singular: basket, kind: Basket, listKind: BasketList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: NAME}}
`

// delivery is a bundle that is to be applied, as a folder.
type delivery struct {
	world
	name, dir string
	maps      int
}

// deliver writes a bundle of its own with so many ConfigMaps.
func (w world) deliver(t *testing.T, name string, maps int) delivery {
	t.Helper()
	text := bundle
	for i := range maps {
		text += fmt.Sprintf("---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c%02d, namespace: NAME}, data: {count: \"%d\"}}\n", i, i)
	}
	d := delivery{world: w, name: name, dir: t.TempDir(), maps: maps}
	assert.NilError(t, os.WriteFile(filepath.Join(d.dir, "all.yaml"), []byte(strings.ReplaceAll(text, "NAME", name)), 0o600))
	return d
}

// granted has alice approve the bundle.
func (d delivery) granted(t *testing.T) render.ChangeRef {
	t.Helper()
	var result render.GateResult
	d.as("bob").run(t, "gate", "-f", d.dir, "--direct", "-o", "json").exits(t, 2).json(t, &result)
	d.as("alice").run(t, "approve", result.Change.ID, "--yes", "--confirm", result.Plan.Hash[len(result.Plan.Hash)-4:]).exits(t, 0)
	return *result.Change
}

func (d delivery) applies(t *testing.T, more ...string) answer {
	t.Helper()
	return d.as("bob").run(t, append([]string{"apply", "-f", d.dir}, more...)...)
}

// isThere: all of the bundle is, as its manifests say.
func (d delivery) isThere(t *testing.T) {
	t.Helper()
	client := d.Client(kubetest.Admin)
	list, err := client.CoreV1().ConfigMaps(d.name).List(t.Context(), metav1.ListOptions{})
	assert.NilError(t, err)
	found := 0
	for _, m := range list.Items {
		if strings.HasPrefix(m.Name, "c") {
			found++
			assert.Equal(t, fmt.Sprintf("c%02s", m.Data["count"]), m.Name)
			assert.Equal(t, m.ManagedFields[0].Manager, "changeward")
		}
	}
	assert.Equal(t, found, d.maps)
	baskets := d.Dynamic(kubetest.Admin).Resource(schema.GroupVersionResource{Group: d.name + ".example.com", Version: "v1", Resource: "baskets"})
	_, err = baskets.Namespace(d.name).Get(t.Context(), "first", metav1.GetOptions{})
	assert.NilError(t, err)
	_, err = client.AppsV1().Deployments(d.name).Get(t.Context(), "web", metav1.GetOptions{})
	assert.NilError(t, err)
	_, err = client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), d.name+"-hooks", metav1.GetOptions{})
	assert.NilError(t, err)
}

// warehouse is a cluster with controllers in which bob may write everything.
func warehouse(t *testing.T) world {
	t.Helper()
	w := world{kubetest.StartWithControllers(t, people()...)}
	assert.NilError(t, settle(w.Cluster))
	_, err := w.Client(kubetest.Admin).RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "bob-deploys"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: "User", Name: "bob"}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	return w
}

// kubelet lets Pods of a namespace run, as a node would: there is none here.
func (w world) kubelet(t *testing.T, namespace string) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() { stop(); <-done })
	pods := w.Client(kubetest.Admin).CoreV1().Pods(namespace)
	go func() {
		defer close(done)
		for ticker := time.NewTicker(200 * time.Millisecond); ctx.Err() == nil; {
			list, err := pods.List(ctx, metav1.ListOptions{})
			for i := 0; err == nil && i < len(list.Items); i++ {
				if pod := &list.Items[i]; pod.Status.Phase == corev1.PodPending {
					pod.Status.Phase = corev1.PodRunning
					pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
					_, _ = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
				}
			}
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	}()
}

func TestFiftyObjectsWithANamespaceAKindAndARollout(t *testing.T) {
	t.Parallel()
	w := warehouse(t)
	d := w.deliver(t, "store", 41)
	change := d.granted(t)
	w.kubelet(t, d.name)
	var result render.ApplyResult
	got := d.applies(t, change.ID, "-o", "json", "--rollout-timeout", "5m").exits(t, 0)
	got.json(t, &result)
	assert.Equal(t, result.Result, "applied")
	assert.Equal(t, len(result.Objects), 50)
	assert.Equal(t, result.Objects[0].Kind, "Namespace")
	assert.Equal(t, result.Objects[1].Kind, "CustomResourceDefinition")
	assert.Equal(t, result.Objects[49].Kind, "ValidatingWebhookConfiguration")
	assert.Equal(t, result.Objects[48].Kind, "Deployment")
	assert.Equal(t, result.Rollouts[0].State, "Current")
	got.tells(t, "store/Deployment.apps/web: InProgress", "store/Deployment.apps/web: Current")
	d.isThere(t)
	request := w.request(t, change.ID)
	assert.Equal(t, request.Status, "applied")
	w.as("bob").run(t, "verify", change.ID).exits(t, 0).prints(t, "as approved: 50 objects")
	d.goesBack(t, change)
}

// goesBack takes the bundle away again.
func (d delivery) goesBack(t *testing.T, change render.ChangeRef) {
	t.Helper()
	back := idOf(t, d.as("bob").run(t, "rollback", change.ID).exits(t, 2).tells(t, "does not come back: Namespace/"+d.name))
	hash := d.request(t, back).Hash
	d.as("alice").run(t, "approve", back, "--yes", "--confirm", hash[len(hash)-4:]).exits(t, 0)
	d.as("bob").run(t, "rollback", change.ID).exits(t, 0).prints(t, "applied: 50 written")
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		_, err := d.Client(kubetest.Admin).CoreV1().Namespaces().Get(t.Context(), d.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return poll.Success()
		}
		return poll.Continue("the namespace is still there")
	}, poll.WithTimeout(3*time.Minute))
}

func TestARolloutThatNeverGetsReadyEndsWithAWayBack(t *testing.T) {
	t.Parallel()
	w := warehouse(t)
	d := w.deliver(t, "stuck", 1)
	change := d.granted(t) // no kubelet: its Pods never run
	got := d.applies(t, "--rollout-timeout", "3s").exits(t, 1)
	got.tells(t, "stuck/Deployment.apps/web is written, and does not run", "rollback "+change.ID)
	d.isThere(t)
	request := w.request(t, change.ID)
	assert.Equal(t, request.Status, "applied", "what is written is written")
	last := request.Outcomes[len(request.Outcomes)-1]
	assert.Equal(t, last.Result, "unready")
	assert.Equal(t, last.Objects[0].Name, "web")
	d.applies(t, "--no-wait").exits(t, 0)
	w.kubelet(t, d.name)
	d.applies(t).exits(t, 0).tells(t, "stuck/Deployment.apps/web: Current")
}
