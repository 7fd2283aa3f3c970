package argocd_test

import (
	"fmt"
	"testing"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/testdata/e2e/parts/argocd"
)

func TestAnApplicationIsSyncedByTheRealArgoCD(t *testing.T) {
	cluster := kubetest.StartWithControllers(t)
	install := argocd.Start(t, cluster, nil)
	repository := newRepository(t)
	revision := repository.commit(t, map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n"})
	install.Repository(t, repository.url, "git", token)
	cluster.Apply(t, kubetest.Admin, "test", fmt.Sprintf(`
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  project: default
  source: {repoURL: %q, path: ., targetRevision: main}
  destination: {server: "https://kubernetes.default.svc", namespace: default}
  syncPolicy: {automated: {}}
`, repository.url))
	install.Application("shop").Await(t, "a sync", func(s argocd.State) bool { return s.Status.OperationState.Succeeded(revision) })
}
