package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
)

// oneOfEach is a manifest of all kinds that the server likes to fill in.
func oneOfEach(t *testing.T, namespace string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "kinds.yaml"))
	assert.NilError(t, err)
	return strings.ReplaceAll(string(content), "NS", namespace)
}

func TestCreatesOfAllKindsHashTheSameForEveryCallerAndSetting(t *testing.T) {
	w := shared(t)
	namespace, elsewhere := w.Namespace(t), w.Namespace(t)
	manifest := oneOfEach(t, namespace)
	silent := strings.ReplaceAll(manifest, ", namespace: "+namespace+"}", "}") // but for ServiceAccounts of bindings
	silent = strings.ReplaceAll(silent, "{kind: ServiceAccount, name: default}", "{kind: ServiceAccount, name: default, namespace: "+namespace+"}")
	silent = strings.ReplaceAll(silent, "{service: {name: headless}}", "{service: {name: headless, namespace: "+namespace+"}}")

	first := given{"the first", []string{"-f", "-"}, manifest}.planned(t, w.as("ci"))
	assert.Equal(t, first.Summary.Create, strings.Count(manifest, "\nkind: "))
	for i := range 10 {
		by := w.as([]string{"ci", kubetest.Admin}[i%2])
		way := given{"with another default namespace", []string{"-f", "-", "-n", elsewhere}, manifest}
		if i > 6 {
			way = given{"with the namespace as a flag", []string{"-f", "-", "-n", namespace}, silent}
		}
		sameHash(t, first, way.planned(t, by), way.name+", by "+by.name)
	}
}

func TestAPlanHasTheHashThatTheGateRecords(t *testing.T) {
	w := shared(t)
	namespace := w.Namespace(t)
	file := filepath.Join(t.TempDir(), "all.yaml")
	assert.NilError(t, os.WriteFile(file, []byte(oneOfEach(t, namespace)), 0o600))
	planned := given{"plan", []string{"-f", file}, ""}.planned(t, w.as(kubetest.Admin))
	var judged render.GateResult
	w.as("ci").run(t, "gate", "-f", file, "-o", "json").exits(t, 2).json(t, &judged)
	sameHash(t, planned, judged.Plan, "gate")
	assert.Equal(t, w.request(t, judged.Change.ID).Hash, planned.Hash)
	var shown render.ChangeRequest
	w.as("alice").run(t, "show", planned.ID, "-o", "json").exits(t, 0).json(t, &shown)
	sameHash(t, planned, *shown.Plan, "show")
}

func TestWhatWasAppliedIsNoChangeForEveryKind(t *testing.T) {
	w := shared(t)
	manifest := strings.ReplaceAll(oneOfEach(t, w.Namespace(t)), "nodePort: 30443", "nodePort: 30444")
	var known []string // a Gadget cannot be applied before its kind is served
	for _, document := range strings.Split(manifest, "\n---\n") {
		if !strings.Contains(document, "\nkind: Gadget\n") {
			known = append(known, document)
		}
	}
	w.Apply(t, kubetest.Admin, dryrun.Manager, known...)
	plan := given{"again", []string{"-f", "-"}, strings.Join(known, "\n---\n")}.planned(t, w.as(kubetest.Admin))
	assert.Equal(t, plan.Summary.None, len(known), "%s", text(plan.Changes))
}
