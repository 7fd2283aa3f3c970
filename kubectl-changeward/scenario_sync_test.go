package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/testdata/e2e/parts/gitserver"
)

// syncs is an Application of Argo CD whose sync is under way, in a cluster
// without Argo CD.
type syncs struct {
	world
	repository gitserver.Repository
	revision   string
}

// operate puts the Application into the middle of a sync, with these members
// in its operation state.
func (s syncs) operate(t *testing.T, state string) {
	t.Helper()
	s.ForceApply(t, kubetest.Admin, "argocd", `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  project: default
  source: {repoURL: "https://elsewhere/r", path: apps/shop}
  destination: {server: "https://kubernetes.default.svc", namespace: team-a}
status:
  operationState: `+strings.NewReplacer("REPO", s.repository.URL, "REVISION", s.revision).Replace(state)+"\n")
}

// gate runs the gate of the sync, and returns its last words.
func (s syncs) gate(t *testing.T, p person, code int, more ...string) string {
	t.Helper()
	words := filepath.Join(t.TempDir(), "words")
	args := append([]string{"gate", "--owner", "application/argocd/shop", "--git", s.repository.URL, "--termination-log", words}, more...)
	p.run(t, args...).exits(t, code)
	said, err := os.ReadFile(words)
	assert.NilError(t, err)
	return string(said)
}

const settled = `{phase: Running, startedAt: "2026-11-30T12:00:00Z", operation: {sync: {prune: true}}, syncResult: {revision: REVISION, source: {repoURL: "REPO", path: apps/shop}}}`

func TestAGateOfASyncReadsWhatThatSyncAppliesOrSaysWhyNot(t *testing.T) {
	w := gitops(t)
	s := syncs{world: w, repository: gitserver.Start(t)}
	s.revision = s.repository.Commit(t, map[string]string{
		"apps/shop/config.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop-config}\ndata: {a: b}\n",
		"apps/broken/x.yaml":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n",
		"apps/masked/x.yaml":      "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: ++++++++}\n",
		"apps/chart/Chart.yaml":   "name: x\n",
		"base/config.yaml":        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\ndata: {a: b}\n",
		"base/kustomization.yaml": "resources: [config.yaml]\n", "apps/over/kustomization.yaml": "namePrefix: over-\nresources: [../../base]\n"})
	moved := s.repository.Commit(t, map[string]string{"apps/shop/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: later}\n"})
	ci := w.as("ci").with("GIT_TOKEN", gitserver.Token)
	assert.Assert(t, strings.Contains(s.gate(t, ci, 1), "it does not exist"))
	s.operate(t, settled)
	w.as("ci").with("GIT_TOKEN", gitserver.Token).run(t, "plan", "--owner", "application/argocd/shop", "--git", s.repository.URL).
		exits(t, 0).prints(t, "+ team-a/ConfigMap/shop-config (create")
	s.operate(t, strings.ReplaceAll(settled, "apps/shop", "apps/over"))
	ci.run(t, "plan", "--owner", "application/argocd/shop", "--git", s.repository.URL).exits(t, 0).prints(t, "+ team-a/ConfigMap/over-base (create")
	s.refuses(t, ci, moved)
}

func (s syncs) refuses(t *testing.T, ci person, moved string) {
	for _, c := range []struct {
		name, state string
		who         person
		args        []string
		why         string
	}{
		{"operation over", `{phase: Succeeded, operation: {sync: {prune: true}}}`, ci, nil, "no sync of it is under way (the last one ended: Succeeded)"},
		{"between two attempts", strings.Replace(settled, "operation:", `finishedAt: "2026-11-30T12:00:01Z", operation:`, 1), ci, nil, "waits to be tried again"},
		{"manifests of its own", strings.Replace(settled, "{sync: {prune: true}}", "{sync: {prune: true, manifests: [x]}}", 1), ci, nil, "operation.sync.manifests"},
		{"selected objects", strings.Replace(settled, "{sync: {prune: true}}", "{sync: {prune: true, resources: [{kind: ConfigMap, name: x}]}}", 1), ci, nil, "operation.sync.resources"},
		{"revision gone", strings.Replace(settled, "REVISION", strings.Repeat("ab", 20), 1), ci, nil, "has no revision " + strings.Repeat("ab", 20)},
		{"repository refused", settled, s.as("ci"), nil, "the forge refuses repository"},
		{"another repository", strings.Replace(settled, "REPO", "https://forge.example.com/x", 1), ci, nil, "the sync is of repository https://forge.example.com/x"},
		{"another path", settled, ci, []string{"--git-path", "apps/other"}, "the sync is of path apps/shop, not of apps/other"},
		{"another revision", settled, ci, []string{"--git-revision", moved}, "the sync is of revision " + s.revision},
		{"errors in manifests", strings.Replace(settled, "apps/shop", "apps/broken", 1), ci, nil, "apps/broken/x.yaml"},
		{"a masked Secret", strings.Replace(settled, "apps/shop", "apps/masked", 1), ci, nil, "value is masked"},
		{"a chart", strings.Replace(settled, "apps/shop", "apps/chart", 1), ci, nil, "is a Helm chart"},
		{"options of kustomize", strings.Replace(settled, "path: apps/shop", "path: apps/over, kustomize: {namePrefix: x-}", 1), ci, nil, "the source has kustomize"},
		{"no such path", strings.Replace(settled, "apps/shop", "apps/none", 1), ci, nil, "has no path apps/none"},
		{"out of the repository", strings.Replace(settled, "apps/shop", "../../etc", 1), ci, nil, "leads out of the repository"},
		{"without rights", settled, s.as("dave").with("GIT_TOKEN", gitserver.Token), nil, "it may not be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.operate(t, c.state)
			words := s.gate(t, c.who, 1, c.args...)
			assert.Assert(t, strings.Contains(words, c.why), words)
		})
	}
}
