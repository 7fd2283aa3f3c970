package main

import (
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
	"gotest.tools/v3/poll"

	"github.com/changeward/changeward/pkg/kubetest"
)

// ownedLive is what an owner has applied the old way: LIVE carries all values a
// second time.
const ownedLive = `
apiVersion: v1
kind: Secret
metadata: {name: merged, namespace: {{ns}}}
data: {password: {{b "merged old"}}, dropped: {{b "merged dropped"}}}
---
apiVersion: v1
kind: Secret
metadata:
  name: pruned
  namespace: {{ns}}
  labels: {kustomize.toolkit.fluxcd.io/name: secrets, kustomize.toolkit.fluxcd.io/namespace: {{ns}}}
  annotations: {copy: '{{v "pruned"}}', 'argocd.argoproj.io/tracking-id': '{{ns}}_secrets:/Secret:{{ns}}/pruned'}
data: {password: {{b "pruned"}}, pin: {{pin}}}
`

const ownedWanted = `
apiVersion: v1
kind: Secret
metadata: {name: merged, namespace: {{ns}}}
data: {password: {{b "merged new"}}}
stringData: {added: '{{v "merged added"}}'}
`

// owners have both Secrets in their inventory, and prune.
const owners = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: secrets, namespace: {{ns}}}
spec:
  project: default
  source: {repoURL: "https://git.example/repo.git", path: secrets, targetRevision: main}
  destination: {server: "https://kubernetes.default.svc", namespace: {{ns}}}
  syncPolicy: {automated: {prune: true}}
status:
  resources:
  - {version: v1, kind: Secret, namespace: {{ns}}, name: merged, status: OutOfSync}
  - {version: v1, kind: Secret, namespace: {{ns}}, name: pruned, status: OutOfSync, requiresPruning: true}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: secrets, namespace: {{ns}}}
spec: {interval: 10m, path: ./secrets, prune: true, sourceRef: {kind: GitRepository, name: repo}}
status:
  inventory: {entries: [{id: {{ns}}_merged__Secret, v: v1}, {id: {{ns}}_pruned__Secret, v: v1}]}
`

func TestASecretThatAnOwnerMergesOrPrunesIsShownToNobody(t *testing.T) {
	w := newWitness(t)
	w.Apply(t, kubetest.Admin, "test", caseText(t, "stub-crds"))
	w.reinstall(t) // the gate may read the owners, too
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		got := w.as("ci").run(t, "plan", "-f", w.file(t, "probe", "owners.yaml", owners))
		if got.code != 0 {
			return poll.Continue("the kinds of the owners are not served yet: %s", got)
		}
		return poll.Success()
	})
	w.Apply(t, kubetest.Admin, "test", w.fill(t, owners))
	icmd.RunCommand(filepath.Join("..", "bin", "kubectl"), "--kubeconfig", w.as(kubetest.Admin).kubeconfig(),
		"apply", "-f", w.file(t, "live", "owned.yaml", ownedLive)).Assert(t, icmd.Success)
	file := w.file(t, "wanted", "owned.yaml", ownedWanted)
	for _, owner := range []string{"application/", "kustomization/"} {
		input := []string{"-f", file, "--owner", owner + w.namespace + "/secrets"}
		pruned := w.hears(t, "ci", append([]string{"plan"}, input...)...).exits(t, 0)
		assert.Assert(t, strings.Contains(pruned.stdout, "Secret/pruned (delete, "), "%s", pruned)
		assert.Equal(t, w.inAllForms(t, input...), 2)
		w.decide(t, file, input...)
	}
	w.heard["what is recorded"] = recorded(t, w.world)
	w.markers.assertSilent(t, w.heard)
}
