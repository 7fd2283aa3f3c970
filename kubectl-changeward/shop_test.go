package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

// shop is a live app in a namespace of its own, and a folder of manifests that
// would change it.
type shop struct {
	world
	namespace, dir string
}

// open makes a shop whose live ConfigMap has the feature off, applied
// server-side as changeward, and a manifest that turns it on. People of group
// dev may edit what is in it.
func (w world) open(t *testing.T) shop {
	t.Helper()
	s := shop{world: w, namespace: w.Namespace(t), dir: t.TempDir()}
	s.apply(t, "changeward", s.config("false"))
	s.write(t, "shop.yaml", s.config("true"))
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets", "services"},
		Verbs: []string{"get", "list", "create", "update", "patch", "delete"}}}
	roles := w.Client(kubetest.Admin).RbacV1()
	_, err := roles.Roles(s.namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "edit"}, Rules: rules}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = roles.RoleBindings(s.namespace).Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "edit"},
		RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "edit"}, Subjects: []rbacv1.Subject{{Kind: "Group", Name: "dev"}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	return s
}

// config is the shop's ConfigMap with the feature set so.
func (s shop) config(feature string) string {
	return s.yaml(`apiVersion: v1
kind: ConfigMap
metadata: {name: shop-config, namespace: NS}
data:
  currency: EUR
  feature_new_cart: "` + feature + `"
`)
}

// yaml puts the shop's namespace in place of NS.
func (s shop) yaml(text string) string { return strings.ReplaceAll(text, "NS", s.namespace) }

// write puts a manifest into the folder.
func (s shop) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	assert.NilError(t, os.WriteFile(path, []byte(s.yaml(text)), 0o600))
	return path
}

// apply changes the live app, taking fields over.
func (s shop) apply(t *testing.T, manager, text string) {
	t.Helper()
	s.ForceApply(t, kubetest.Admin, manager, s.yaml(text))
}

// gate runs the gate over the folder.
func (s shop) gate(t *testing.T, who string, more ...string) answer {
	t.Helper()
	return s.as(who).run(t, append([]string{"gate", "-f", s.dir, "--target", clusterName}, more...)...)
}

// judged runs the gate for its JSON, and checks the exit code.
func (s shop) judged(t *testing.T, who string, code int, more ...string) render.GateResult {
	t.Helper()
	var result render.GateResult
	s.gate(t, who, append(more, "-o", "json")...).exits(t, code).json(t, &result)
	return result
}

// proposed puts the change forward and returns its request.
func (s shop) proposed(t *testing.T) render.ChangeRef {
	t.Helper()
	result := s.judged(t, "ci", 2)
	assert.Equal(t, result.Change.Status, "awaiting-approval")
	return *result.Change
}

// approved puts the change forward and has alice approve it.
func (s shop) approved(t *testing.T) render.ChangeRef {
	t.Helper()
	change := s.proposed(t)
	s.as("alice").run(t, "approve", change.ID, "--yes").exits(t, 0)
	return change
}

// records are the records of the shop's scope, of these types; of all types
// where none is named. They are seen by admin.
func (s shop) records(t *testing.T, types ...state.Type) []string {
	t.Helper()
	wanted := state.LabelScope + "=" + state.ScopeLabel(s.dir)
	if len(types) == 1 {
		wanted += "," + state.LabelType + "=" + string(types[0])
	}
	return s.objects(t, metav1.ListOptions{LabelSelector: wanted})
}

// objects are all Secrets and ConfigMaps of namespace changeward, by name.
func (w world) objects(t *testing.T, selected metav1.ListOptions) []string {
	t.Helper()
	var names []string
	client := w.Client(kubetest.Admin).CoreV1()
	secrets, err := client.Secrets(install.Namespace).List(t.Context(), selected)
	assert.NilError(t, err)
	for _, secret := range secrets.Items {
		names = append(names, secret.Name)
	}
	maps, err := client.ConfigMaps(install.Namespace).List(t.Context(), selected)
	assert.NilError(t, err)
	for _, m := range maps.Items {
		names = append(names, m.Name)
	}
	return names
}

// request is a change request as `show` has it.
func (w world) request(t *testing.T, ref string) render.ChangeRequest {
	t.Helper()
	var request render.ChangeRequest
	w.as("alice").run(t, "show", ref, "-o", "json").exits(t, 0).json(t, &request)
	return request
}

// live is the shop's ConfigMap.
func (s shop) live(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	live, err := s.Client(kubetest.Admin).CoreV1().ConfigMaps(s.namespace).Get(t.Context(), "shop-config", metav1.GetOptions{})
	assert.NilError(t, err)
	return live
}

// counts sorts record names by type.
func counts(names []string) map[string]int {
	all := map[string]int{}
	for _, name := range names {
		all[strings.Split(name, "-")[1]]++
	}
	return all
}

// idOf is the change request that an answer in text names.
func idOf(t *testing.T, a answer) string {
	t.Helper()
	_, rest, found := strings.Cut(a.stdout, "\nchange ")
	assert.Assert(t, found, "%s", a)
	id, _, _ := strings.Cut(rest, " ")
	return id
}
