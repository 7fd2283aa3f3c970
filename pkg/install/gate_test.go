package install_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/state"
)

func TestAGateChangesNothingEvenAsClusterAdmin(t *testing.T) {
	c := kubetest.Start(t, "robot:"+install.GateGroup, "cloud:arn:ci")
	o := options(t, c)
	o.GateGroups = []string{"arn:ci"}
	mustInstall(t, c, o)
	shop := c.Namespace(t)
	workload(t, c, shop)
	hook := c.Token(t, shop, install.GateAccount)
	for name, gate := range map[string]*rest.Config{
		"a token of namespace changeward-gate":     gateToken(t, c, "ci"),
		"a hook Job's account in an app namespace": withToken(c, hook),
		"a user of group changeward:gate":          c.Config("robot"),
		"a user of a group named at install":       c.Config("cloud"),
	} {
		t.Run(name, func(t *testing.T) {
			clusterAdmin(t, c, gate)
			refusedAll(t, kubernetes.NewForConfigOrDie(gate), shop)
			found, err := install.GateTooPowerful(t.Context(), kubernetes.NewForConfigOrDie(gate))
			assert.NilError(t, err)
			assert.Assert(t, cmp.Contains(strings.Join(found, "\n"), "may create, update, patch, delete, deletecollection validatingadmissionpolicybindings.admissionregistration.k8s.io"))
			assert.Assert(t, cmp.Contains(strings.Join(found, "\n"), "may impersonate users"))
			assert.Assert(t, cmp.Contains(strings.Join(found, "\n"), "may get, create nodes/proxy"))
		})
	}
}

func withToken(c *kubetest.Cluster, token string) *rest.Config {
	config := rest.AnonymousClientConfig(c.Config(kubetest.Admin))
	config.BearerToken = token
	return config
}

func clusterAdmin(t *testing.T, c *kubetest.Cluster, config *rest.Config) {
	t.Helper()
	user := whoAmI(t, config).Username
	_, err := c.Client(kubetest.Admin).RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "too-much-"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: "User", Name: user}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	awaitRight(t, config, authorizationv1.ResourceAttributes{Verb: "*", Group: "*", Resource: "*"})
}

func workload(t *testing.T, c *kubetest.Cluster, namespace string) {
	t.Helper()
	c.Apply(t, kubetest.Admin, "test", `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: `+namespace+`}
data: {a: b}
`, `
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot, namespace: `+namespace+`}
`, `
apiVersion: v1
kind: ServiceAccount
metadata: {name: `+install.GateAccount+`, namespace: `+namespace+`}
`, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: `+namespace+`}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
`, `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: `+namespace+`}
spec: {serviceAccountName: robot, automountServiceAccountToken: false, containers: [{name: web, image: web}]}
`)
}

// refusedAll tries what a gate may and may not do.
func refusedAll(t *testing.T, gate kubernetes.Interface, shop string) {
	ctx, dry := t.Context(), []string{metav1.DryRunAll}
	maps, patch := gate.CoreV1().ConfigMaps(shop), []byte(`{"data":{"a":"c"}}`)
	_, err := maps.Patch(ctx, "settings", types.MergePatchType, patch, metav1.PatchOptions{DryRun: dry})
	assert.NilError(t, err, "a dry-run patch")
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{DryRun: dry})
	assert.NilError(t, err, "a dry-run create")
	assert.NilError(t, maps.Delete(ctx, "settings", metav1.DeleteOptions{DryRun: dry}), "a dry-run delete")
	refused := func(what string, err error) {
		t.Helper()
		assert.Assert(t, apierrors.IsForbidden(err), "%s: %v", what, err)
		assert.ErrorContains(t, err, admission.GateMessage, what)
	}
	_, err = maps.Patch(ctx, "settings", types.MergePatchType, patch, metav1.PatchOptions{})
	refused("patch", err)
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{})
	refused("create", err)
	refused("delete", maps.Delete(ctx, "settings", metav1.DeleteOptions{}))
	refused("delete collection", maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=settings"}))
	refused("evict", gate.CoreV1().RESTClient().Post().Namespace(shop).Resource("pods").Name("web").SubResource("eviction").
		Param("dryRun", "All").Body([]byte(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web"}}`)).Do(ctx).Error())
	_, err = gate.AppsV1().Deployments(shop).Patch(ctx, "web", types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{DryRun: dry}, "scale")
	refused("scale, as a dry run", err)
	refused("exec", gate.CoreV1().RESTClient().Post().Namespace(shop).Resource("pods").Name("web").SubResource("exec").
		Param("command", "id").Param("stdout", "true").Do(ctx).Error())
	for _, dryRun := range [][]string{nil, dry} {
		_, err = gate.CoreV1().ServiceAccounts(shop).CreateToken(ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{DryRun: dryRun})
		refused("mint a token", err)
	}
	_, err = gate.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "mine"},
		RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "cluster-admin"}}, metav1.CreateOptions{})
	refused("grant", err)
	refused("webhook", gate.AdmissionregistrationV1().RESTClient().Post().Resource("validatingwebhookconfigurations").
		Body([]byte(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"mine"}}`)).Do(ctx).Error())
	refusedRecords(t, gate)
}

// refusedRecords tries to approve, edit and delete as a gate. Both policies
// refuse that; which one answers is up to the server.
func refusedRecords(t *testing.T, gate kubernetes.Interface) {
	ctx := t.Context()
	refused := func(what string, err error) {
		t.Helper()
		assert.Assert(t, apierrors.IsForbidden(err), "%s: %v", what, err)
		assert.ErrorContains(t, err, "ValidatingAdmissionPolicy 'changeward-", what)
	}
	me, err := gate.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	assert.NilError(t, err)
	actor := me.Status.UserInfo.Username
	maps := gate.CoreV1().ConfigMaps(install.Namespace)
	_, err = maps.Create(ctx, decision("cw-decision-0123456789ab", actor), metav1.CreateOptions{})
	refused("approve", err)
	_, err = maps.Create(ctx, decision("cw-decision-0123456789ab", actor), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	assert.ErrorContains(t, err, "must be written by a person", "approve, as a dry run")
	_, err = maps.Patch(ctx, "cw-policy-000001", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	refused("edit the policy", err)
	refused("delete the policy", maps.Delete(ctx, "cw-policy-000001", metav1.DeleteOptions{}))
	_, err = gate.CoreV1().Secrets(install.NamespaceGate).Patch(ctx, install.GateKeySecret, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	refused("edit its key", err)
	plan := secret("cw-plan-"+strings.ToLower(strings.NewReplacer(":", "-", "@", "-").Replace(actor)), state.TypePlan, actor)
	made, err := gate.CoreV1().Secrets(install.Namespace).Create(ctx, plan, metav1.CreateOptions{})
	assert.NilError(t, err, "its own records are what it may write")
	refused("delete a plan", gate.CoreV1().Secrets(install.Namespace).Delete(ctx, made.Name, metav1.DeleteOptions{}))
	made.Labels["changeward.dev/scope"] = "other"
	_, err = gate.CoreV1().Secrets(install.Namespace).Update(ctx, made, metav1.UpdateOptions{})
	refused("edit a plan", err)
}

func TestAGateWithItsOwnRoles(t *testing.T) {
	c := kubetest.Start(t)
	o := options(t, c)
	mustInstall(t, c, o)
	config := gateToken(t, c, "ci")
	gate := kubernetes.NewForConfigOrDie(config)
	ctx, dry := t.Context(), []string{metav1.DryRunAll}
	t.Run("is not too powerful", func(t *testing.T) {
		found, err := install.GateTooPowerful(ctx, gate)
		assert.NilError(t, err)
		assert.Equal(t, len(found), 0, "%v", found)
	})
	t.Run("cannot touch the fence, nor make one", func(t *testing.T) {
		fence := gate.AdmissionregistrationV1()
		assert.Assert(t, apierrors.IsForbidden(fence.ValidatingAdmissionPolicyBindings().Delete(ctx, admission.GatePolicy, metav1.DeleteOptions{})))
		assert.Assert(t, apierrors.IsForbidden(fence.ValidatingAdmissionPolicies().Delete(ctx, admission.GatePolicy, metav1.DeleteOptions{DryRun: dry})))
		live, err := fence.ValidatingAdmissionPolicies().Get(ctx, admission.GatePolicy, metav1.GetOptions{})
		assert.NilError(t, err, "it may read it")
		live.ObjectMeta = metav1.ObjectMeta{Name: "mine"}
		_, err = fence.ValidatingAdmissionPolicies().Create(ctx, live, metav1.CreateOptions{})
		assert.Assert(t, apierrors.IsForbidden(err))
	})
	t.Run("plans roles that it does not hold, and grants none", func(t *testing.T) {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}}
		_, err := gate.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{DryRun: dry})
		assert.NilError(t, err)
		_, err = gate.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{})
		assert.ErrorContains(t, err, admission.GateMessage)
	})
	t.Run("sees the fence stand, and the doctor has nothing to say", func(t *testing.T) {
		standing := install.Attest(ctx, as(t, config), epochs(t, c))
		assert.Equal(t, standing.Void, "", standing.Detail)
		report, err := install.Doctor(ctx, as(t, config), whoAmI(t, config))
		assert.NilError(t, err)
		assert.Assert(t, !report.Failed(), "%v", report.Checks)
	})
	t.Run("has planning rights that name every resource", func(t *testing.T) { namesEverything(t, c) })
}

func namesEverything(t *testing.T, c *kubetest.Cluster) {
	role, err := c.Client(kubetest.Admin).RbacV1().ClusterRoles().Get(t.Context(), install.RolePlan, metav1.GetOptions{})
	assert.NilError(t, err)
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			assert.Assert(t, !strings.ContainsAny(resource, "*/"), resource)
			assert.Assert(t, !strings.Contains(resource, "admissionpolic"), resource)
		}
		for _, verb := range rule.Verbs {
			assert.Assert(t, verb != "*" && !strings.HasPrefix(verb, "impersonate"), verb)
		}
	}
}

func TestAScopedGatePlansItsNamespacesOnlyAndNoSecretsThereWhereTheyAreLeftOut(t *testing.T) {
	c := kubetest.Start(t)
	shop, other := c.Namespace(t), c.Namespace(t)
	c.Apply(t, kubetest.Admin, "test", `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.elsewhere.example.com}
spec: {group: elsewhere.example.com, version: v1, groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: true, service: {name: none, namespace: default}}
`) // an API that does not answer stops no install, and is not planned
	o := options(t, c)
	o.Scope, o.NoSecrets = []string{shop}, true
	mustInstall(t, c, o)
	gate := kubernetes.NewForConfigOrDie(gateToken(t, c, "ci", shop))
	try := func(namespace string) error {
		_, err := gate.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	assert.NilError(t, try(shop))
	assert.Assert(t, apierrors.IsForbidden(try(other)))
	role, err := c.Client(kubetest.Admin).RbacV1().ClusterRoles().Get(t.Context(), install.RolePlan, metav1.GetOptions{})
	assert.NilError(t, err)
	assert.Assert(t, !strings.Contains(fmt.Sprint(role.Rules), "elsewhere"))
	_, err = gate.CoreV1().Secrets(shop).List(t.Context(), metav1.ListOptions{})
	assert.Assert(t, apierrors.IsForbidden(err))
	_, err = gate.CoreV1().Secrets(install.NamespaceGate).Get(t.Context(), install.DigestKeySecret, metav1.GetOptions{})
	assert.NilError(t, err)
}
