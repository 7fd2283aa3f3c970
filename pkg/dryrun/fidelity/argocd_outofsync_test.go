package fidelity_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
)

const outOfSync = "ApplyOutOfSyncOnly=true"

func TestWhatArgoCDFindsInSyncIsLeftAsThePlanSays(t *testing.T) {
	settle(t)
	for _, c := range []struct {
		name string
		made making
		app  shop
	}{
		{"by default", shop{}.syncs, withOptions(outOfSync)},
		{"by default, made by kubectl", byKubectlApply, withOptions(outOfSync)},
		{"by default, made by somebody", bySomebody, withOptions(outOfSync)},
		{"server-side", withOptions("ServerSideApply=true").syncs, withOptions(outOfSync, "ServerSideApply=true")},
		{"server-side, made by default", shop{}.syncs, withOptions(outOfSync, "ServerSideApply=true")},
		{"server-side, compared here", shop{}.syncs, shop{options: []string{outOfSync, "ServerSideApply=true"},
			metadata: "annotations: {argocd.argoproj.io/compare-options: ServerSideDiff=false}\n"}},
		{"replaced", shop{}.syncs, withOptions(outOfSync, "Replace=true")},
		{"what is ignored", shop{}.syncs, shop{options: []string{outOfSync},
			spec: "ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas, /spec/template/metadata/annotations]}]\n"}},
		{"what a manager holds", shop{}.syncs, shop{options: []string{outOfSync},
			spec: "ignoreDifferences: [{group: '*', kind: '*', managedFieldsManagers: [kubectl, kubectl-edit, kubectl-patch]}]\n"}},
		{"what is ignored, and kept", shop{}.syncs, shop{options: []string{outOfSync, respects},
			spec: "ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			namespace := kubetest.Shared(t).Namespace(t)
			first, _ := handled(t, namespace)
			c.made(t, first)()
			for name, touch := range hands() {
				touch(t, namespace, name)
			}
			c.app.prove(t, first)
		})
	}
}

func TestObjectsOfManyKindsAreLeftWhereArgoCDFindsThemInSync(t *testing.T) {
	settle(t)
	for _, app := range []shop{withOptions(outOfSync), withOptions(outOfSync, "ServerSideApply=true")} {
		t.Run(strings.Join(app.options, " "), func(t *testing.T) {
			first, second := versions(t, "objects.yaml", kubetest.Shared(t).Namespace(t))
			app.syncs(t, first)()
			for _, o := range app.prove(t, first) {
				assert.Check(t, len(texts(t, o)) == 0, "%s: %v", o.Object.Key(), texts(t, o))
			}
			app.prove(t, second)
		})
	}
}
