package main

import (
	"testing"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
)

// goesBack puts the way back forward as bob, has alice approve it, and goes it.
func (s shop) goesBack(t *testing.T, id string) {
	t.Helper()
	asked := s.as("bob").run(t, "rollback", id, "--no-wait")
	if asked.code == 2 {
		back := idOf(t, asked)
		hash := s.request(t, back).Hash
		s.as("alice").run(t, "approve", back, "--yes", "--confirm", hash[len(hash)-4:]).exits(t, 0)
		asked = s.as("bob").run(t, "rollback", id, "--no-wait")
	}
	asked.exits(t, 0)
}

// workload is a Deployment of the shop with these containers.
func workload(replicas, containers string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NS}
spec:
  replicas: ` + replicas + `
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
` + containers
}

func TestARollbackPutsEntriesOfListsBackWhereTheyWere(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.develops(t)
	before := workload("2", `      - {name: web, image: "example.com/web:1", args: [--a, --b], env: [{name: A, value: "1"}, {name: B, value: "2"}, {name: C, value: "3"}], ports: [{containerPort: 80}]}
      - {name: log, image: "example.com/log:1"}
`)
	s.apply(t, "changeward", before)
	deployments := s.Client(kubetest.Admin).AppsV1().Deployments(s.namespace)
	was, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
	assert.NilError(t, err)
	id := s.changed(t, workload("5", `      - {name: web, image: "example.com/web:2", args: [--a, --c, --d], env: [{name: C, value: "3"}, {name: A, value: "9"}, {name: D, value: "4"}], ports: [{containerPort: 80}, {containerPort: 81}]}
      - {name: extra, image: "example.com/extra:1"}
`))
	is, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
	assert.NilError(t, err)
	assert.Equal(t, is.Spec.Template.Spec.Containers[1].Name, "extra")
	s.goesBack(t, id)
	is, err = deployments.Get(t.Context(), "web", metav1.GetOptions{})
	assert.NilError(t, err)
	assert.DeepEqual(t, is.Spec, was.Spec)
}

func TestARollbackMakesWhatWasDeletedAgain(t *testing.T) {
	s := gitops(t).open(t)
	s.apply(t, "kustomize-controller", `{apiVersion: v1, kind: ConfigMap, metadata: {name: banner, namespace: NS, labels: {kustomize.toolkit.fluxcd.io/name: shop, kustomize.toolkit.fluxcd.io/namespace: flux-system}}, data: {text: sale, more: "1"}}`)
	s.apply(t, "flux", `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: shop, namespace: flux-system}, spec: {interval: 1m, path: ./, prune: true, sourceRef: {kind: GitRepository, name: shop}},`+
		` status: {inventory: {entries: [{id: NS_banner__ConfigMap, v: v1}, {id: NS_shop-config__ConfigMap, v: v1}]}}}`)
	s.write(t, "shop.yaml", s.config("false"))
	gate := []string{"gate", "--owner", "kustomization/flux-system/shop", "-f", s.dir, "--target", clusterName}
	asked := s.as("ci").run(t, gate...).exits(t, 2).prints(t, "- "+s.namespace+"/ConfigMap/banner (delete")
	id := idOf(t, asked)
	hash := s.request(t, id).Hash
	s.as("alice").run(t, "approve", id, "--yes", "--confirm", hash[len(hash)-4:]).exits(t, 0)
	maps := s.Client(kubetest.Admin).CoreV1().ConfigMaps(s.namespace)
	was, err := maps.Get(t.Context(), "banner", metav1.GetOptions{})
	assert.NilError(t, err)
	s.as("ci").run(t, gate...).exits(t, 0)
	assert.NilError(t, maps.Delete(t.Context(), "banner", metav1.DeleteOptions{})) // as Flux would
	s.goesBack(t, id)
	is, err := maps.Get(t.Context(), "banner", metav1.GetOptions{})
	assert.NilError(t, err)
	assert.DeepEqual(t, is.Data, was.Data)
	assert.DeepEqual(t, is.Labels, was.Labels)
	assert.Assert(t, is.UID != was.UID)
}

// Quotas are judged one dry run at a time, so that a plan cannot see what its
// objects need together.
func TestAQuotaThatIsFullInTheMiddleStopsAnApplyWithAWayOnAndAWayBack(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.apply(t, "admin", `{apiVersion: v1, kind: ResourceQuota, metadata: {name: few, namespace: NS}, spec: {hard: {services: "1"}}}`)
	quotas := s.Client(kubetest.Admin).CoreV1().ResourceQuotas(s.namespace)
	quota, err := quotas.Get(t.Context(), "few", metav1.GetOptions{})
	assert.NilError(t, err)
	quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: corev1.ResourceList{"services": resource.MustParse("0")}} // no controller counts here
	_, err = quotas.UpdateStatus(t.Context(), quota, metav1.UpdateOptions{})
	assert.NilError(t, err)
	s.write(t, "shop.yaml", `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: NS}, spec: {selector: {app: a}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: b, namespace: NS}, spec: {selector: {app: b}, ports: [{port: 80}]}}
`)
	change := *s.judged(t, "bob", 0, "--direct").Change
	got := s.applies(t, s.as("bob")).exits(t, 1)
	got.prints(t, "stopped: 1 written, 1 failed").tells(t, "exceeded quota: few", "rollback "+change.ID)
}
