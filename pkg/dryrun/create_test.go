package dryrun_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
	"gotest.tools/v3/poll"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

// creates is one object of each kind of which the server makes up values, and
// of many more.
func creates(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "creates.yaml"))
	assert.NilError(t, err)
	return string(data)
}

func TestCreatesShowWhatAdmissionAddsAndMarkWhatTheServerAssigns(t *testing.T) {
	lines := planned(t, creates(t))
	golden.Assert(t, strings.Join(lines, "\n")+"\n", "creates.golden")
}

func TestCreatesHaveTheSameHashTenTimes(t *testing.T) {
	text := creates(t) + "\n---\n" + caseFile(t, "B65-generated-values.yaml")
	first, hash := observation{}.plan(t, text)
	for range 9 {
		lines, again := observation{}.plan(t, text)
		assert.DeepEqual(t, lines, first)
		assert.Equal(t, again, hash)
	}
}

func TestInventedValuesAreMarkedNotShown(t *testing.T) {
	lines := planned(t, caseFile(t, "B65-generated-values.yaml"))
	for _, path := range []string{
		`spec.selector.matchLabels["batch.kubernetes.io/controller-uid"]`,
		`spec.template.metadata.labels.controller-uid`,
		"spec.clusterIP", `spec.ports[port=80,protocol="TCP"].nodePort`,
	} {
		assert.Assert(t, slices.Contains(lines, "  admission "+path+": assigned"), "%s in %v", path, lines)
	}
}

func TestWhatTheManifestSaysIsNotAssigned(t *testing.T) {
	lines := planned(t, `
apiVersion: v1
kind: Service
metadata: {name: headless, namespace: team-a}
spec: {clusterIP: None, selector: {a: b}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: fixed, namespace: team-a}
spec: {type: NodePort, selector: {a: b}, ports: [{port: 80, nodePort: 30124}]}
`)
	for _, line := range lines {
		assert.Assert(t, !strings.Contains(line, "nodePort"), line)
	}
	headless := lines[slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "headless") })+1:]
	assert.Assert(t, !slices.Contains(headless, "  admission spec.clusterIP: assigned"), "%v", headless)
}

func TestDefaultsInsideOfWhatIsOwnedAsAWholeAreNotTakenForAdmissions(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "atomic.yaml"))
	assert.NilError(t, err)
	for _, line := range planned(t, string(data)) {
		assert.Assert(t, !strings.HasPrefix(line, "!"), line)
		assert.Assert(t, !strings.HasPrefix(line, "  admission") || strings.HasSuffix(line, ": assigned"), line)
	}
}

func TestALineBreakThatOnlyYAMLKnowsIsPlannedAsTheServerStoresIt(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	text := func(kind, member, name, space, feed string) string {
		return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: " + namespace + ", annotations: {n: \"7" + space + "8\"}}\n" +
			member + ": {a: \"x" + space + "y\", b: \"x" + feed + "y\", c: \"x\\L\\Py\"}\n"
	}
	for kind, member := range map[string]string{"ConfigMap": "data", "Secret": "stringData"} {
		_, broken := observation{}.plan(t, text(kind, member, "new", `\N`, `\N\N`))
		_, folded := observation{}.plan(t, text(kind, member, "new", " ", `\n`))
		assert.Equal(t, broken, folded)
		cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, text(kind, member, "old", `\N`, `\N\N`))
		assert.DeepEqual(t, planned(t, text(kind, member, "old", `\N`, `\N\N`)), []string{"= " + namespace + "/" + kind + "/old (none)"})
	}
}

// mutating is a policy that touches a Deployment in three ways.
const mutating = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: dryrun-mutating}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  matchConditions: [{name: ours, expression: "object.metadata.name == 'mutated'"}]
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >
        Object{metadata: Object.metadata{annotations: {"added": "yes"}},
          spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{hostNetwork: true}}}}
  - patchType: JSONPatch
    jsonPatch:
      expression: >
        [JSONPatch{op: "replace", path: "/spec/template/spec/containers/0/image", value: "mirror.example/app:1"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: dryrun-mutating}
spec: {policyName: dryrun-mutating}
`

func TestAdmissionIsShownWhetherItAddsOrRewrites(t *testing.T) {
	c := cluster(t)
	c.Apply(t, kubetest.Admin, "test", mutating)
	t.Cleanup(func() {
		_ = c.Client(kubetest.Admin).AdmissionregistrationV1().MutatingAdmissionPolicies().Delete(context.Background(), "dryrun-mutating", metav1.DeleteOptions{})
	})
	deployment := strings.NewReplacer("c-deploy", "mutated").Replace(deploymentOf(t))
	var lines []string
	poll.WaitOn(t, func(poll.LogT) poll.Result { // the server takes a moment to heed a policy
		if lines = planned(t, deployment); len(lines) > 1 {
			return poll.Success()
		}
		return poll.Continue("%v", lines)
	})
	assert.DeepEqual(t, lines, []string{
		"+ team-a/Deployment.apps/mutated (create)",
		"  admission metadata.annotations.added: yes",
		`  admission spec.template.spec.containers[name="c"].image: mirror.example/app:1`,
		"  admission spec.template.spec.hostNetwork: true",
	})
}

// deploymentOf is the Deployment among the creates.
func deploymentOf(t *testing.T) string {
	t.Helper()
	documents := strings.Split(creates(t), "\n---\n")
	return documents[slices.IndexFunc(documents, func(text string) bool { return strings.Contains(text, "c-deploy") })]
}
