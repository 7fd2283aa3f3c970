package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
)

// drifts runs drift over the shop's namespace.
func (s shop) drifts(t *testing.T, code int, more ...string) render.DriftList {
	t.Helper()
	var list render.DriftList
	s.as("bob").run(t, append([]string{"drift", "-n", s.namespace, "-o", "json"}, more...)...).exits(t, code).json(t, &list)
	return list
}

func TestADirectChangeIsListedUntilGitHasItOrTheClusterLostIt(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.drifts(t, 0)
	id := s.changed(t, s.config("true"))
	list := s.drifts(t, 3)
	assert.Equal(t, len(list.Changes), 1)
	change := list.Changes[0]
	assert.Equal(t, change.Change.ID, id)
	assert.Equal(t, change.State, "unreconciled")
	assert.Equal(t, change.Who, "bob")
	assert.DeepEqual(t, change.Approvers, []string{"alice"})
	assert.Equal(t, change.Fields[0].Path, "data.feature_new_cart")
	s.drifts(t, 0, "--max-age", "24h")
	s.drifts(t, 0, "-n", "default")
	s.as("bob").run(t, "drift", "-n", s.namespace).exits(t, 3).prints(t, "unreconciled: "+id, "by bob, approved by alice", "nobody owns it", "data.feature_new_cart").
		tells(t, "reconcile --k8s-dir DIR")
	metrics := s.as("bob").run(t, "drift", "-n", s.namespace, "-o", "prometheus").exits(t, 3)
	metrics.prints(t, `changeward_direct_change_age_seconds{change="`+id+`",group="",kind="ConfigMap",name="shop-config",namespace="`+s.namespace+`"`,
		`changeward_direct_changes{state="unreconciled"} 1`)
	s.as("bob").run(t, "drift", "--max-age", "soon").exits(t, 1).tells(t, `--max-age "soon" is no age`)

	old := s.repository(t, map[string]string{"shop.yaml": s.config("false")})
	assert.Equal(t, s.drifts(t, 3, "--k8s-dir", old, "--settle").Changes[0].Fields[0].Message, "Git does not have it so")
	assert.Equal(t, s.drifts(t, 0, "--k8s-dir", s.dir).Changes[0].State, "reconciled")
	assert.Equal(t, len(s.drifts(t, 3).Changes), 1, "looking records nothing")
	assert.Assert(t, s.drifts(t, 0, "--k8s-dir", s.dir, "--settle").Changes[0].Settled)
	assert.Equal(t, len(s.drifts(t, 0).Changes), 0)
	outcomes := s.request(t, id).Outcomes
	assert.Equal(t, outcomes[len(outcomes)-1].Result, "reconciled")

	s.changed(t, s.config("maybe"))
	s.drifts(t, 3)
	s.apply(t, "other", s.config("true"))
	assert.Equal(t, s.drifts(t, 0).Changes[0].State, "reverted")
}

// kept makes the shop's ConfigMap one that an Application of Argo CD keeps.
func (s shop) kept(t *testing.T, revision string, reconciled time.Time) {
	t.Helper()
	app := "shop-" + s.namespace
	s.ForceApply(t, kubetest.Admin, "argocd-controller", fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: shop-config, namespace: %s, `+
		`annotations: {argocd.argoproj.io/tracking-id: "%s:/ConfigMap:%s/shop-config"}}, data: {currency: EUR}}`, s.namespace, app, s.namespace))
	s.ForceApply(t, kubetest.Admin, "argocd", fmt.Sprintf(`{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: %s, namespace: argocd}, `+
		`spec: {project: default, destination: {server: "https://kubernetes.default.svc", namespace: %s}, syncPolicy: {syncOptions: [ServerSideApply=true]}}, `+
		`status: {reconciledAt: "%s", sync: {status: Synced, revision: "%s"}, resources: [{version: v1, kind: ConfigMap, namespace: %s, name: shop-config}]}}`,
		app, s.namespace, reconciled.UTC().Format(time.RFC3339), revision, s.namespace))
}

// readsOwners lets people of group dev read the Applications and Kustomizations
// of the cluster.
func (s shop) readsOwners(t *testing.T) {
	t.Helper()
	roles := s.Client(kubetest.Admin).RbacV1()
	_, err := roles.ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "owners"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"argoproj.io", "kustomize.toolkit.fluxcd.io"}, Resources: []string{"applications", "kustomizations"}, Verbs: []string{"get", "list"}}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = roles.ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "owners"},
		RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "owners"}, Subjects: []rbacv1.Subject{{Kind: "Group", Name: "dev"}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = s.Client(kubetest.Admin).CoreV1().ConfigMaps("argocd").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "argocd-cm"}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = roles.RoleBindings("argocd").Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "settings"},
		RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "settings"}, Subjects: []rbacv1.Subject{{Kind: "Group", Name: "dev"}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = roles.Roles("argocd").Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
}

// commits makes a folder a repository, and answers its newest commit.
func commits(t *testing.T, dir string) string {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "--allow-empty", "-m", "all"}} {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		assert.NilError(t, err, "%s", out)
	}
	return head(t, dir)
}

func TestTheOwnersRevisionProvesThatGitHasAChangeAndItsFieldsPassToTheOwner(t *testing.T) {
	s := gitops(t).open(t)
	s.readsOwners(t)
	revision := commits(t, s.dir)
	s.kept(t, revision, time.Now().Add(-time.Hour))
	id := s.changed(t, s.config("true"))
	change := s.drifts(t, 3).Changes[0]
	assert.Assert(t, change.Owner != nil)
	assert.Equal(t, *change.Owner, "application/argocd/shop-"+s.namespace)
	assert.Equal(t, change.Fields[0].Message, "whether Git has it is not known: name a checkout of what it applied with --k8s-dir")
	commits(t, s.dir)
	other := s.drifts(t, 3, "--k8s-dir", s.dir).Changes[0].Fields[0].Message
	assert.Assert(t, strings.Contains(other, "applied "+revision), other)

	s.kept(t, head(t, s.dir), time.Now().Add(-time.Hour))
	assert.Equal(t, s.drifts(t, 3, "--k8s-dir", s.dir).Changes[0].Fields[0].Message, *change.Owner+" has not reconciled since")
	s.kept(t, head(t, s.dir), time.Now().Add(time.Minute))
	assert.Assert(t, s.drifts(t, 0, "--k8s-dir", s.dir, "--settle").Changes[0].Settled)
	assert.Equal(t, s.request(t, id).Outcomes[len(s.request(t, id).Outcomes)-1].Revision, head(t, s.dir))
	assert.Equal(t, s.live(t).Data["feature_new_cart"], "true", "no value changes when fields pass to the owner")

	s.kept(t, revision, time.Now()) // the owner applies manifests without the field
	_, still := s.live(t).Data["feature_new_cart"]
	assert.Assert(t, !still, "a later removal in Git removes the field")
}

// head is the newest commit of a repository.
func head(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.Command("git", "-C", dir, "rev-parse", "HEAD").Output()
	assert.NilError(t, err)
	return strings.TrimSpace(string(out))
}

func TestWhatPeopleChangedPastChangewardIsFoundInObjectsOfOwners(t *testing.T) {
	s := gitops(t).open(t)
	s.as("bob").run(t, "drift", "-n", s.namespace, "--all").exits(t, 1).tells(t, "s: it may not be read")
	s.readsOwners(t)
	s.kept(t, "none", time.Now())
	assert.Equal(t, len(s.drifts(t, 0, "--all").Changes), 0)
	s.apply(t, "kubectl-edit", `{apiVersion: v1, kind: ConfigMap, metadata: {name: shop-config, namespace: NS}, data: {debug: "on"}}`)
	list := s.drifts(t, 3, "--all")
	assert.Equal(t, len(list.Changes), 1)
	assert.Equal(t, list.Changes[0].Manager, "kubectl-edit")
	assert.Equal(t, list.Changes[0].Fields[0].Path, "data.debug")
	assert.Equal(t, *list.Changes[0].Owner, "application/argocd/shop-"+s.namespace)
	s.as("bob").run(t, "drift", "-n", s.namespace, "--all").exits(t, 3).prints(t, "past changeward:", "by kubectl-edit")
	s.drifts(t, 0)
}
