package main

import (
	"testing"

	"gotest.tools/v3/assert"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/state"
)

const gateMessage = "a changeward gate may change nothing"

// client is a plain client with the person's credentials.
func (p person) client(t *testing.T) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig())
	assert.NilError(t, err)
	return kubernetes.NewForConfigOrDie(config)
}

func TestTheGatesOwnTokenCannotDecide(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.proposed(t)
	for _, verb := range []string{"approve", "reject", "revoke"} {
		got := s.as("ci").run(t, verb, change.ID, "--yes").exits(t, 1).tells(t, "error: ")
		assert.Equal(t, got.stdout, "")
	}
	s.as("ci").run(t, "doctor").exits(t, 0).prints(t, "(a gate) may read records, propose\n")
	assert.DeepEqual(t, counts(s.records(t)), map[string]int{"plan": 1, "audit": 1})
	assert.Equal(t, s.request(t, change.ID).Status, "awaiting-approval")
}

func TestAnAdminWhoRunsTheGateIsToldWhatTheirRightsAreWorth(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.gate(t, "admin").exits(t, 2).tells(t, "note: you could switch off or get around changeward's admission policies: may ")
}

func TestTheGatesOwnTokenCannotWriteADecisionByHandEither(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.approved(t)
	maps := s.Client("admin").CoreV1().ConfigMaps(install.Namespace)
	real, err := maps.Get(t.Context(), s.records(t, state.TypeDecision)[0], metav1.GetOptions{})
	assert.NilError(t, err)
	gate := s.as("ci").client(t).CoreV1()
	for name, actor := range map[string]string{"in alice's name": "alice", "in its own": "system:serviceaccount:changeward-gate:ci"} {
		forged := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cw-decision-0123456789ab", Labels: real.Labels,
			Annotations: map[string]string{state.AnnotationActor: actor, state.AnnotationPlanHash: real.Annotations[state.AnnotationPlanHash]}},
			Data: real.Data, Immutable: real.Immutable}
		for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
			_, err = gate.ConfigMaps(install.Namespace).Create(t.Context(), forged, metav1.CreateOptions{DryRun: dryRun})
			assert.Assert(t, apierrors.IsForbidden(err), "%s: %v", name, err)
		}
	}
	_, err = gate.ConfigMaps(install.Namespace).Patch(t.Context(), real.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	assert.Assert(t, apierrors.IsForbidden(err), "%v", err)
	assert.Assert(t, apierrors.IsForbidden(gate.ConfigMaps(install.Namespace).Delete(t.Context(), real.Name, metav1.DeleteOptions{})))
	assert.Assert(t, apierrors.IsForbidden(gate.Secrets(install.Namespace).Delete(t.Context(), s.records(t, state.TypePlan)[0], metav1.DeleteOptions{})))
	assert.Equal(t, s.request(t, change.ID).Status, "approved")
}

func TestTheGatesOwnTokenCannotChangeTheAppThatItPlans(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.apply(t, "test", `
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot, namespace: NS}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: NS}
spec: {serviceAccountName: robot, automountServiceAccountToken: false, containers: [{name: web, image: web}]}
`)
	before := s.live(t)
	gate, ctx := s.as("ci").client(t), t.Context()
	patch := []byte(`{"data":{"feature_new_cart":"true"}}`)
	_, err := gate.CoreV1().ConfigMaps(s.namespace).Patch(ctx, "shop-config", types.MergePatchType, patch, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	assert.NilError(t, err, "a dry run is what it is for")
	tries := map[string]func() error{
		"patch a ConfigMap": func() error {
			_, err := gate.CoreV1().ConfigMaps(s.namespace).Patch(ctx, "shop-config", types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		},
		"apply it": func() error {
			_, err := gate.CoreV1().ConfigMaps(s.namespace).Patch(ctx, "shop-config", types.ApplyPatchType, []byte(s.config("true")), metav1.PatchOptions{FieldManager: "changeward"})
			return err
		},
		"delete it": func() error {
			return gate.CoreV1().ConfigMaps(s.namespace).Delete(ctx, "shop-config", metav1.DeleteOptions{})
		},
		"create a Secret": func() error {
			_, err := gate.CoreV1().Secrets(s.namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, metav1.CreateOptions{})
			return err
		},
		"grant itself everything": func() error {
			_, err := gate.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "mine"},
				RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "cluster-admin"}}, metav1.CreateOptions{})
			return err
		},
	}
	for what, try := range tries {
		err := try()
		assert.Assert(t, apierrors.IsForbidden(err), "%s: %v", what, err)
		assert.ErrorContains(t, err, gateMessage, what)
	}
	// The roles of a token hold no subresource at all, so RBAC answers before admission.
	for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
		_, err = gate.CoreV1().ServiceAccounts(s.namespace).CreateToken(ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{DryRun: dryRun})
		assert.Assert(t, apierrors.IsForbidden(err), "mint a token: %v", err)
	}
	err = gate.CoreV1().RESTClient().Post().Namespace(s.namespace).Resource("pods").Name("web").SubResource("exec").Param("command", "id").Do(ctx).Error()
	assert.Assert(t, apierrors.IsForbidden(err), "exec: %v", err)
	assert.Equal(t, s.live(t).ResourceVersion, before.ResourceVersion)
}
