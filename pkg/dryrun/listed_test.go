package dryrun_test

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

// counted is a configuration that counts reads of objects in a namespace:
// lists, and gets of one.
func counted(config *rest.Config, resource string) (lists, gets func() int) {
	var mu sync.Mutex
	counts := map[bool]int{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodGet && strings.Contains(request.URL.Path, "/"+resource) {
				mu.Lock()
				counts[path.Base(request.URL.Path) == resource]++
				mu.Unlock()
			}
			return next.RoundTrip(request)
		})
	})
	read := func(list bool) func() int { return func() int { mu.Lock(); defer mu.Unlock(); return counts[list] } }
	return read(true), read(false)
}

func TestManyObjectsOfAKindAreReadByOneList(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	text := configMaps(namespace, 30)
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, text)
	config := cluster(t).Config(kubetest.Admin)
	lists, gets := counted(config, "configmaps")
	lines, _ := observation{config: config}.plan(t, text)
	assert.Equal(t, len(lines), 30)
	assert.Equal(t, lines[29], "= "+namespace+"/ConfigMap/m-029 (none)")
	assert.Equal(t, lists(), 1)
	assert.Equal(t, gets(), 0)
}

func TestACrowdedNamespaceIsNotListed(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, configMaps(namespace, 60))
	config := cluster(t).Config(kubetest.Admin)
	lists, gets := counted(config, "configmaps")
	lines, _ := observation{config: config}.plan(t, configMaps(namespace, 12))
	assert.Equal(t, len(lines), 12)
	assert.Equal(t, lists(), 1)
	assert.Equal(t, gets(), 12)
}

func TestSecretsAreNeverListed(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	config := cluster(t).Config(kubetest.Admin)
	lists, gets := counted(config, "secrets")
	lines, _ := observation{config: config}.plan(t, strings.NewReplacer("ConfigMap", "Secret", ", data:", ", stringData:").Replace(configMaps(namespace, 30)))
	assert.Equal(t, len(lines), 30)
	assert.Equal(t, lists(), 0)
	assert.Equal(t, gets(), 30)
}

func TestWhoMayNotListStillMayPlan(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	client := cluster(t).Client(kubetest.Admin).RbacV1()
	meta := metav1.ObjectMeta{Name: "no-lists", Namespace: namespace}
	_, err := client.Roles(namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "create", "patch"}},
	}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = client.RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta,
		RoleRef:  rbacv1.RoleRef{Kind: "Role", Name: "no-lists"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "bob"}},
	}, metav1.CreateOptions{})
	assert.NilError(t, err)
	lines, _ := observation{config: cluster(t).Config("bob")}.plan(t, configMaps(namespace, 12))
	assert.Equal(t, len(lines), 12)
	assert.Equal(t, lines[0], fmt.Sprintf("+ %s/ConfigMap/m-000 (create)", namespace))
}
