package flux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/testdata/e2e/parts/flux"
)

// helm is enough of helm-controller's definition that Flux applies objects of
// it.
const helm = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: helmreleases.helm.toolkit.fluxcd.io}
spec:
  group: helm.toolkit.fluxcd.io
  scope: Namespaced
  names: {kind: HelmRelease, plural: helmreleases}
  versions:
  - {name: v2, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

func TestFluxDoesWhatThePlanOfAKustomizationSays(t *testing.T) {
	s, all := newStage(t), scenarios(t)
	s.begin(t, all)
	for _, c := range all {
		for _, line := range c.hands {
			s.kubectl(t, strings.Fields(line)...)
		}
		c.put(t, s, "2")
	}
	planned := map[string]document{}
	for _, c := range all {
		planned[c.name] = s.planned(t, c, "-f", s.repository.Dir)
	}
	commit := s.fetch(t, all)
	for _, c := range all {
		fromSource := s.planned(t, c, "--from-owner", "--revision", commit)
		assert.DeepEqual(t, fromSource.Changes, planned[c.name].Changes)
		assert.DeepEqual(t, fromSource.Errors, planned[c.name].Errors)
	}
	before := map[string]objects{}
	for _, c := range all {
		before[c.name] = s.snapshot(t, c)
	}
	for _, c := range all {
		s.Patch(t, flux.Kustomizations(), c.name, map[string]any{"spec": map[string]any{"suspend": false}})
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			ready, message := s.Settled(t, c.name, commit)
			d := planned[c.name]
			assert.Equal(t, ready, c.fails == "" && d.Complete, "%s", message)
			s.compare(t, c, d, before[c.name], s.snapshot(t, c))
		})
	}
}

// begin lets Flux apply the first version of all.
func (s stage) begin(t *testing.T, all []scenario) {
	t.Helper()
	s.Cluster.Apply(t, kubetest.Admin, "test", helm)
	for _, c := range all {
		s.kubectl(t, "create", "namespace", c.name)
		if c.setup != "" {
			file := filepath.Join(t.TempDir(), "setup.yaml")
			assert.NilError(t, os.WriteFile(file, []byte(c.setup), 0o600))
			s.kubectl(t, "apply", "-f", file)
		}
		c.put(t, s, "1")
	}
	commit := s.repository.Push(t, "one")
	s.Follow(t, "repository", s.repository)
	for _, c := range all {
		s.Cluster.ForceApply(t, kubetest.Admin, "test", c.text())
	}
	for _, c := range all {
		ready, message := s.Settled(t, c.name, commit)
		assert.Assert(t, ready, "%s: %s", c.name, message)
	}
}

// fetch lets source-controller have what the checkout holds, while
// kustomize-controller waits.
func (s stage) fetch(t *testing.T, all []scenario) (commit string) {
	t.Helper()
	for _, c := range all {
		s.Patch(t, flux.Kustomizations(), c.name, map[string]any{"spec": map[string]any{"suspend": true}})
	}
	commit = s.repository.Push(t, "two")
	s.Fetched(t, "repository", commit)
	return commit
}

// planned is the plan of one, checked against what it is to show; the zero
// value where there can be none.
func (s stage) planned(t *testing.T, c scenario, args ...string) document {
	t.Helper()
	if c.fails != "" {
		got := s.plugin(t, append([]string{"diff", "kustomization", c.name}, args...)...)
		assert.Check(t, got.code == 1 && strings.Contains(got.stderr, c.fails), "%s: lacks %q\n%s", c.name, c.fails, got)
		return document{}
	}
	d := s.diff(t, c.name, args...)
	for _, line := range c.want {
		verb, what, _ := strings.Cut(line, " ")
		assert.Check(t, d.has(verb, what), "%s: no %s: %+v", c.name, line, d)
	}
	return d
}

// has says whether a plan shows an operation of an object, by the start of its
// name.
func (d document) has(verb, what string) bool {
	for _, failed := range d.Errors {
		if verb == "error" && strings.HasPrefix(failed.Kind+"/"+failed.Name, what) {
			return true
		}
	}
	for _, c := range d.Changes {
		operation := c.Operation
		if c.Skipped != "" {
			operation = "skip"
		}
		if operation == verb && strings.HasPrefix(c.Kind+"/"+c.Name, what) {
			return true
		}
	}
	return false
}

func TestSeveralKustomizationsArePlannedInTheOrderOfTheirDependencies(t *testing.T) {
	s := newStage(t)
	s.repository.Write(t, map[string]string{
		"first/namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: ordered}\n",
		"second/config.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: ordered}\ndata: {a: b}\n",
	})
	commit := s.repository.Push(t, "one")
	s.Follow(t, "ordered", s.repository)
	for _, c := range []scenario{{name: "second", spec: "prune: true\nsuspend: true\ndependsOn: [{name: first}]"}, {name: "first", spec: "prune: true\nsuspend: true"}} {
		s.Cluster.Apply(t, kubetest.Admin, "test", strings.Replace(c.text(), "name: repository", "name: ordered", 1))
	}
	s.Fetched(t, "ordered", commit)
	got := s.plugin(t, "diff", "kustomization", "second", "first", "--from-owner")
	assert.Equal(t, got.code, 0, "%s", got)
	first, second := strings.Index(got.stdout, "+ Namespace/ordered (create"), strings.Index(got.stdout, "+ ordered/ConfigMap/settings (create")
	assert.Assert(t, first >= 0 && second > first, "%s", got)
	alone := s.plugin(t, "diff", "kustomization", "second", "--from-owner")
	assert.Equal(t, alone.code, 1, "without the first, its namespace is missing: %s", alone)

	resume := map[string]any{"spec": map[string]any{"suspend": false}}
	s.Patch(t, flux.Kustomizations(), "second", resume)
	s.Patch(t, flux.Kustomizations(), "first", resume)
	s.Applied(t, "second", commit)
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if again := s.plugin(t, "diff", "kustomization", "first", "second", "-o", "json"); again.code != 0 || strings.Contains(again.stdout, `"operation": "create"`) {
			return poll.Continue("%s", again)
		}
		return poll.Success()
	})
}
