package install_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/cluster"
)

func recordMeta(name string, kind state.Type, actor string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: install.Namespace, Name: name, Labels: map[string]string{state.LabelType: string(kind)},
		Annotations: map[string]string{state.AnnotationActor: actor, state.AnnotationPlanHash: "sha256:" + strings.Repeat("0", 64)}}
}

func decision(name, actor string) *corev1.ConfigMap {
	immutable := true
	return &corev1.ConfigMap{ObjectMeta: recordMeta(name, state.TypeDecision, actor), Immutable: &immutable, Data: map[string]string{state.DataEnvelope: "{}"}}
}

func secret(name string, kind state.Type, actor string) *corev1.Secret {
	immutable := true
	return &corev1.Secret{ObjectMeta: recordMeta(name, kind, actor), Immutable: &immutable, Type: corev1.SecretType("changeward.dev/" + string(kind)),
		Data: map[string][]byte{state.DataEnvelope: []byte("{}")}}
}

func TestNobodyWritesARecordThatIsNotTheirOwn(t *testing.T) {
	c := kubetest.Start(t, "alice:sre")
	mustInstall(t, c, options(t, c))
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	for _, tc := range []struct {
		name, want string // want: part of the refusal; "": admitted
		edit       func(d *corev1.ConfigMap)
	}{
		{"an own decision", "", func(*corev1.ConfigMap) {}},
		{"an own decision with a group", "", func(d *corev1.ConfigMap) { d.Annotations[state.AnnotationGroups] = "sre" }},
		{"another's name", "must be your own username", func(d *corev1.ConfigMap) { d.Annotations[state.AnnotationActor] = "bob" }},
		{"no name", "must be your own username", func(d *corev1.ConfigMap) { delete(d.Annotations, state.AnnotationActor) }},
		{"a foreign group", "names a group you are not in", func(d *corev1.ConfigMap) { d.Annotations[state.AnnotationGroups] = "sre\noncall" }},
		{"a foreign credential", "is not the credential of this request", func(d *corev1.ConfigMap) { d.Annotations[state.AnnotationCredential] = "JTI=1" }},
		{"an unknown type", "need a known changeward.dev/type label", func(d *corev1.ConfigMap) { d.Labels[state.LabelType] = "verdict" }},
		{"no type", "need a known changeward.dev/type label", func(d *corev1.ConfigMap) { d.Labels = nil }},
		{"a plan as a ConfigMap", "are Secrets; all other records are ConfigMaps", func(d *corev1.ConfigMap) { d.Labels[state.LabelType], d.Name = "plan", "cw-plan-000001" }},
		{"the name of another type", "record names are cw-<type>-<id>", func(d *corev1.ConfigMap) { d.Name = "cw-key-0123456789ab" }},
		{"a foreign name under a record's label", "record names are cw-<type>-<id>", func(d *corev1.ConfigMap) { d.Name = "innocent" }},
		{"an editable record", "created immutable", func(d *corev1.ConfigMap) { d.Immutable = nil }},
		{"a generated name", "created immutable", func(d *corev1.ConfigMap) { d.Name, d.GenerateName = "", "cw-decision-" }},
		{"a finalizer", "created immutable", func(d *corev1.ConfigMap) { d.Finalizers = []string{"example.com/keep"} }},
		{"an owner", "created immutable", func(d *corev1.ConfigMap) {
			d.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: "x", UID: "1"}}
		}},
		{"a decision about no plan", "names the plan hash", func(d *corev1.ConfigMap) { delete(d.Annotations, state.AnnotationPlanHash) }},
		{"a decision about half a hash", "names the plan hash", func(d *corev1.ConfigMap) { d.Annotations[state.AnnotationPlanHash] = "sha256:00" }},
		{"300 KiB", "at most 256 KiB a key", func(d *corev1.ConfigMap) { d.Data["x"] = strings.Repeat("x", 300<<10) }},
		{"binary data", "record data is text", func(d *corev1.ConfigMap) { d.BinaryData = map[string][]byte{"x": {0xff}} }},
		{"an epoch without being an admin", "need the verb administer", func(d *corev1.ConfigMap) {
			d.Labels[state.LabelType], d.Name = "epoch", "cw-epoch-000002"
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := decision("cw-decision-0123456789ab", "alice")
			tc.edit(d)
			_, err := c.Client("alice").CoreV1().ConfigMaps(install.Namespace).Create(t.Context(), d, dry)
			if tc.want == "" {
				assert.NilError(t, err)
				return
			}
			assert.ErrorContains(t, err, "ValidatingAdmissionPolicy 'changeward-records'")
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func TestARecordStaysAsItIsEvenForAnAdministrator(t *testing.T) {
	c := kubetest.Start(t, "alice:sre", "bob:dev", "mallory:none")
	mustInstall(t, c, options(t, c))
	ctx, admin := t.Context(), c.Client(kubetest.Admin).CoreV1().ConfigMaps(install.Namespace)
	d := decision("cw-decision-0123456789ab", "alice")
	_, err := admin.Create(ctx, d, metav1.CreateOptions{})
	assert.ErrorContains(t, err, "must be your own username", "system:masters cannot speak for alice")
	_, err = c.Client("alice").CoreV1().ConfigMaps(install.Namespace).Create(ctx, d, metav1.CreateOptions{})
	assert.NilError(t, err)
	for _, patch := range []string{`{"metadata":{"labels":{"a":"b"}}}`, `{"metadata":{"labels":{"changeward.dev/type":null}}}`} {
		_, err = admin.Patch(ctx, d.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		assert.ErrorContains(t, err, "append-only")
	}
	bindRole(t, c, "mallory", []string{"configmaps"}, "delete", "create", "update")
	mallory := c.Client("mallory").CoreV1().ConfigMaps(install.Namespace)
	assert.ErrorContains(t, mallory.Delete(ctx, d.Name, metav1.DeleteOptions{}), "needs the verb purge")
	assert.NilError(t, admin.Delete(ctx, d.Name, metav1.DeleteOptions{}), "an administrator may purge, and the chain shows it")

	t.Run("and what is not changeward's is left alone", func(t *testing.T) {
		foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kube-root-ca.crt"}, Data: map[string]string{"a": "b"}}
		made, err := mallory.Create(ctx, foreign, metav1.CreateOptions{})
		assert.NilError(t, err)
		made.Data["a"] = "c"
		made, err = mallory.Update(ctx, made, metav1.UpdateOptions{})
		assert.NilError(t, err)
		made.Labels = map[string]string{state.LabelType: "decision"}
		_, err = mallory.Update(ctx, made, metav1.UpdateOptions{})
		assert.ErrorContains(t, err, "append-only", "nothing becomes a record by an edit")
		_, err = mallory.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "lease-"}}, metav1.CreateOptions{})
		assert.NilError(t, err)
		assert.NilError(t, mallory.Delete(ctx, foreign.Name, metav1.DeleteOptions{}))
	})
	t.Run("and roles keep people and gates apart", func(t *testing.T) {
		_, err := c.Client("alice").CoreV1().Secrets(install.Namespace).Create(ctx, secret("cw-plan-000001", state.TypePlan, "alice"), metav1.CreateOptions{})
		assert.Assert(t, apierrors.IsForbidden(err) && !strings.Contains(err.Error(), "ValidatingAdmissionPolicy"), "%v", err)
		_, err = c.Client("bob").CoreV1().Secrets(install.Namespace).Create(ctx, secret("cw-plan-000001", state.TypePlan, "bob"), metav1.CreateOptions{})
		assert.NilError(t, err)
		_, err = c.Client("bob").CoreV1().Secrets(install.NamespaceGate).Get(ctx, install.GateKeySecret, metav1.GetOptions{})
		assert.Assert(t, apierrors.IsForbidden(err))
		_, err = c.Client("bob").CoreV1().Secrets(install.NamespaceGate).Get(ctx, install.DigestKeySecret, metav1.GetOptions{})
		assert.NilError(t, err)
	})
}

func bindRole(t *testing.T, c *kubetest.Cluster, user string, resources []string, verbs ...string) {
	t.Helper()
	rbac, ctx := c.Client(kubetest.Admin).RbacV1(), t.Context()
	meta := metav1.ObjectMeta{Name: user, Namespace: install.Namespace}
	_, err := rbac.Roles(meta.Namespace).Create(ctx, &rbacv1.Role{ObjectMeta: meta,
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: resources, Verbs: verbs}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = rbac.RoleBindings(meta.Namespace).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta,
		RoleRef: rbacv1.RoleRef{Kind: "Role", Name: user}, Subjects: []rbacv1.Subject{{Kind: "User", Name: user}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	awaitRight(t, c.Config(user), authorizationv1.ResourceAttributes{Namespace: meta.Namespace, Verb: verbs[0], Resource: resources[0]})
}

func TestARobotThatApprovesCountsAsAPersonForDecisionsAndKeysOnly(t *testing.T) {
	c := kubetest.Start(t)
	mustInstall(t, c, options(t, c))
	config := tokenConfig(t, c, install.TokenOptions{Name: "night-watch", Role: install.TokenApprove, Duration: hour})
	me := whoAmI(t, config)
	assert.Equal(t, me.Username, "system:serviceaccount:changeward-approvers:night-watch")
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(install.Namespace)
	_, err := maps.Create(t.Context(), decision("cw-decision-0123456789ab", me.Username), metav1.CreateOptions{})
	assert.NilError(t, err)
	incident := decision("cw-incident-0123456789ab", me.Username)
	incident.Labels[state.LabelType] = "incident"
	_, err = maps.Create(t.Context(), incident, metav1.CreateOptions{})
	assert.ErrorContains(t, err, "must be written by a person")

	for _, account := range []string{"default/robot", install.NamespaceApprovers + "/" + install.GateAccount} {
		namespace, name, _ := strings.Cut(account, "/")
		c.Apply(t, kubetest.Admin, "test", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: "+name+", namespace: "+namespace+"}\n")
		other := withToken(c, c.Token(t, namespace, name))
		clusterAdmin(t, c, other)
		_, err = kubernetes.NewForConfigOrDie(other).CoreV1().ConfigMaps(install.Namespace).Create(t.Context(),
			decision("cw-decision-ba9876543210", whoAmI(t, other).Username), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		assert.ErrorContains(t, err, "must be written by a person", account)
	}
}

func TestAFenceThatWasTakenDownAndPutBackIsNotTheOldOne(t *testing.T) {
	c := kubetest.Start(t)
	o := options(t, c)
	mustInstall(t, c, o)
	where, fence := as(t, c.Config(kubetest.Admin)), c.Client(kubetest.Admin).AdmissionregistrationV1()
	assert.Equal(t, install.Attest(t.Context(), where, nil).Void, install.ReasonEpochMissing)
	live, err := fence.ValidatingAdmissionPolicyBindings().Get(t.Context(), admission.RecordsPolicy, metav1.GetOptions{})
	assert.NilError(t, err)
	assert.NilError(t, fence.ValidatingAdmissionPolicyBindings().Delete(t.Context(), live.Name, metav1.DeleteOptions{}))
	assert.Equal(t, install.Attest(t.Context(), where, epochs(t, c)).Void, install.ReasonAdmissionMissing)
	t.Run("and the gate's own fence needs no other", func(t *testing.T) { mintsNoToken(t, c) })
	live.ResourceVersion, live.UID = "", ""
	_, err = fence.ValidatingAdmissionPolicyBindings().Create(t.Context(), live, metav1.CreateOptions{})
	assert.NilError(t, err)
	assert.Equal(t, install.Attest(t.Context(), where, epochs(t, c)).Void, install.ReasonAdmissionChanged)

	// A namespace that the fence does not look at any more: the text still
	// matches, only the canary can tell.
	assert.NilError(t, prepare(t, c, o).Apply(t.Context(), nil))
	lying := where
	lying.Store = admitting{where.Store}
	assert.Equal(t, install.Attest(t.Context(), lying, epochs(t, c)).Void, cluster.CanaryAdmitted)
}

// admitting is a store whose canary comes through, as from a server that has
// the policy and does not act on it.
type admitting struct{ install.Records }

func (admitting) Canary(context.Context, string) error {
	return &cluster.CanaryError{Reason: cluster.CanaryAdmitted, Err: errors.New("admitted")}
}

// mintsNoToken waits until the fence around records is down, and has a gate
// ask for a token by way of a Secret where it may write its records.
func mintsNoToken(t *testing.T, c *kubetest.Cluster) {
	store := as(t, c.Config(kubetest.Admin)).Store
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if store.Canary(t.Context(), "nobody") == nil {
			return poll.Continue("the fence acts")
		}
		return poll.Success()
	})
	gate := kubernetes.NewForConfigOrDie(gateToken(t, c, "ci")).CoreV1().Secrets(install.Namespace)
	wanted := secret("cw-plan-000001", state.TypePlan, "nobody")
	_, err := gate.Create(t.Context(), wanted, metav1.CreateOptions{})
	assert.NilError(t, err)
	wanted.Name, wanted.Type, wanted.Annotations[corev1.ServiceAccountNameKey] = "token", corev1.SecretTypeServiceAccountToken, "default"
	_, err = gate.Create(t.Context(), wanted, metav1.CreateOptions{})
	assert.ErrorContains(t, err, admission.GateMessage)
}
