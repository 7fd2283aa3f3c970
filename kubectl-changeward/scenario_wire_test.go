package main

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
)

// everything is a set in which each way of asking the server is needed: what
// changes, is new, stays, is refused, cannot be changed, and is a hook.
const everything = `apiVersion: v1
kind: ConfigMap
metadata: {name: changed, namespace: NS}
data: {k: new}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: absent, namespace: NS}
---
apiVersion: v1
kind: Secret
metadata: {name: quiet, namespace: NS}
stringData: {k: marker-of-the-wire}
---
apiVersion: batch/v1
kind: Job
metadata: {name: fixed, namespace: NS, annotations: {kustomize.toolkit.fluxcd.io/force: enabled, "argocd.argoproj.io/sync-options": "Replace=true,Force=true"}}
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "registry.example/c:2"}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: NS, annotations: {argocd.argoproj.io/hook: PreSync}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "registry.example/c:2"}]}}}
`

// owned are a Kustomization and an Application that have the set's objects, and
// one more each, which has left the manifests.
const owned = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: wire, namespace: flux-system}
spec: {prune: true, path: ./, sourceRef: {kind: GitRepository, name: repo}}
status: {inventory: {entries: [{id: NS_left-flux__ConfigMap, v: v1}]}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: wire, namespace: argocd}
spec: {destination: {server: "https://kubernetes.default.svc", namespace: NS}, syncPolicy: {automated: {prune: true}}}
status: {resources: [{version: v1, kind: ConfigMap, namespace: NS, name: left-argo}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: left-flux, namespace: NS, labels: {kustomize.toolkit.fluxcd.io/name: wire, kustomize.toolkit.fluxcd.io/namespace: flux-system}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: left-argo, namespace: NS, annotations: {argocd.argoproj.io/tracking-id: "wire:/ConfigMap:NS/left-argo"}}
`

// tappedShop is a shop with all of it, on a cluster with owners.
func tappedShop(t *testing.T) shop {
	t.Helper()
	s := gitops(t).open(t)
	live := strings.NewReplacer("k: new", "k: old", "c:2", "c:1").Replace(everything)
	live, _, _ = strings.Cut(strings.ReplaceAll(live, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: absent, namespace: NS}\n", ""),
		"---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate")
	s.apply(t, "changeward", live)
	s.Apply(t, kubetest.Admin, "kustomize-controller", s.yaml(owned))
	s.lastApplied(t)
	return s
}

func TestNothingLeavesAPlanThatCouldChangeTheCluster(t *testing.T) {
	t.Parallel()
	s := tappedShop(t)
	s.write(t, "all.yaml", everything)
	before := s.state(t)
	ci, tap := s.tapped(t, "ci")
	seen := map[string]int{}
	for _, c := range []struct {
		flags    string
		code     int
		rehearse string // methods that must be among the dry runs
	}{
		{"", 1, "PATCH POST"},
		{"--twice", 1, "PATCH POST"},
		{"--force-conflicts -o json", 1, "PATCH POST"},
		{"--applier kubectl-client", 1, "PATCH POST"},
		{"--applier kubectl-client --force", 0, "PATCH POST"},
		{"--applier kubectl-server --force-conflicts", 1, "PATCH POST PUT"},
		{"--owner kustomization/flux-system/wire --twice", 0, "PATCH POST DELETE"},
		{"--owner application/argocd/wire --twice", 0, "PATCH POST DELETE"},
		{"--exit-code", 1, "PATCH POST"},
	} {
		got := ci.process(t, append([]string{"plan", "-f", s.dir}, strings.Fields(c.flags)...)...)
		rehearsed, _ := checked(t, tap.taken(), false)
		assert.Check(t, got.code == c.code, "%s", got)
		for _, method := range strings.Fields(c.rehearse) {
			assert.Check(t, rehearsed[method] > 0, "plan %s sent no dry run by %s: %v\n%s", c.flags, method, rehearsed, got)
			seen[method] += rehearsed[method]
		}
	}
	assert.Equal(t, len(seen), 4, "%v", seen)
	assert.DeepEqual(t, s.state(t), before)
}

// state is what is stored in the shop's namespace and in changeward's.
func (s shop) state(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	client := s.Client(kubetest.Admin)
	for _, namespace := range []string{s.namespace, "changeward"} {
		maps, err := client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
		assert.NilError(t, err)
		for _, o := range maps.Items {
			out[namespace+"/ConfigMap/"+o.Name] = o.ResourceVersion
		}
		secrets, err := client.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{})
		assert.NilError(t, err)
		for _, o := range secrets.Items {
			out[namespace+"/Secret/"+o.Name] = o.ResourceVersion
		}
		jobs, err := client.BatchV1().Jobs(namespace).List(t.Context(), metav1.ListOptions{})
		assert.NilError(t, err)
		for _, o := range jobs.Items {
			out[namespace+"/Job/"+o.Name] = o.ResourceVersion
		}
	}
	return out
}

func TestNothingButItsRecordsLeavesAGateThatCouldChangeTheCluster(t *testing.T) {
	t.Parallel()
	s := tappedShop(t)
	s.write(t, "all.yaml", everything)
	ci, tap := s.tapped(t, "ci")
	before := s.state(t)
	stored := func() int { return len(s.state(t)) }
	gate := func(code int, flags ...string) (got answer, recorded int) {
		t.Helper()
		held := stored()
		got = ci.process(t, append([]string{"gate", "-f", s.dir}, flags...)...)
		rehearsed, recorded := checked(t, tap.taken(), true)
		assert.Equal(t, got.code, code, "%s", got)
		assert.Assert(t, rehearsed["PATCH"] > 0, "%s", got)
		assert.Equal(t, stored()-held, recorded, "each of the requests was one new record, and nothing else is new: %s", got)
		return got, recorded
	}
	for _, owner := range []string{"kustomization/flux-system/wire", "application/argocd/wire"} {
		proposed, recorded := gate(2, "--owner", owner)
		assert.Assert(t, recorded > 0)
		_, recorded = gate(2, "--owner", owner, "--wait", "--timeout", "2s")
		assert.Equal(t, recorded, 0, "nothing was decided in the meantime")
		s.as("alice").run(t, "show", idOf(t, proposed), "-o", "json").exits(t, 0)
		s.confirmed(t, idOf(t, proposed))
		_, recorded = gate(0, "--owner", owner)
		assert.Assert(t, recorded > 0)
		_, recorded = gate(0, "--owner", owner, "--wait", "--timeout", "2s")
		assert.Equal(t, recorded, 0)
	}
	_, recorded := gate(1) // the Job cannot be changed
	assert.Equal(t, recorded, 0, "what is not decided is not recorded")
	after := s.state(t)
	for name, version := range before {
		assert.Equal(t, after[name], version, name)
	}
}

// confirmed has alice approve a request, whatever it takes.
func (w world) confirmed(t *testing.T, id string) {
	t.Helper()
	hash, _ := w.as("alice").run(t, "show", id, "-o", "json").exits(t, 0).is(t, "ChangeRequest")["plan"].(map[string]any)["hash"].(string)
	w.as("alice").run(t, "approve", id, "--yes", "--confirm", hash[len(hash)-4:]).exits(t, 0)
}
