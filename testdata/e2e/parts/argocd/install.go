package argocd

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
)

// defaults of argocd-cm in tests: hooks are seen within a second.
func defaults(settings map[string]string) map[string]string {
	out := map[string]string{"timeout.reconciliation": "10s"}
	maps.Copy(out, settings)
	return out
}

// objects are what Argo CD finds in its own namespace.
func (i *Install) objects(t testing.TB, module string, settings map[string]string) {
	t.Helper()
	for _, name := range []string{"application", "applicationset", "appproject"} {
		definition, err := os.ReadFile(filepath.Join(module, "manifests", "crds", name+"-crd.yaml"))
		assert.NilError(t, err)
		i.Cluster.Apply(t, kubetest.Admin, "test", string(definition))
	}
	client := i.Cluster.Client(kubetest.Admin).CoreV1()
	_, err := client.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}, metav1.CreateOptions{})
	assert.Assert(t, err == nil || apierrors.IsAlreadyExists(err), "%v", err)
	for name, data := range map[string]map[string]string{"argocd-cm": defaults(settings), "argocd-rbac-cm": nil, "argocd-cmd-params-cm": nil,
		"argocd-gpg-keys-cm": nil, "argocd-ssh-known-hosts-cm": nil, "argocd-tls-certs-cm": nil} {
		_, err := client.ConfigMaps(Namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: part(name), Data: data}, metav1.CreateOptions{})
		assert.NilError(t, err)
	}
	_, err = client.Secrets(Namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: part("argocd-secret"),
		Data: map[string][]byte{"server.secretkey": []byte("only of this test")}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	i.Cluster.Apply(t, kubetest.Admin, "test", `
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec:
  sourceRepos: ["*"]
  destinations: [{server: "*", namespace: "*"}]
  clusterResourceWhitelist: [{group: "*", kind: "*"}]
`)
}

func part(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: Namespace, Labels: map[string]string{"app.kubernetes.io/part-of": "argocd"}}
}

// Repository lets Argo CD read a private repository over HTTP.
func (i *Install) Repository(t testing.TB, url, username, password string) {
	t.Helper()
	_, err := i.Cluster.Client(kubetest.Admin).CoreV1().Secrets(Namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "repo-", Namespace: Namespace, Labels: map[string]string{"argocd.argoproj.io/secret-type": "repository"}},
		StringData: map[string]string{"type": "git", "url": url, "username": username, "password": password}}, metav1.CreateOptions{})
	assert.NilError(t, err)
}
