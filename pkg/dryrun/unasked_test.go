package dryrun_test

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

// rewriting is a policy that gives every container an image of the mirror, and
// a variable, and that marks what is updated.
const rewriting = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: dryrun-rewriting}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}]
  matchConditions: [{name: ours, expression: "request.namespace == 'NAMESPACE'"}]
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >
        Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
          containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers{
            name: c.name, image: "mirror/" + c.name + ":" + string(object.metadata.annotations["v"])})}}}}
  - patchType: JSONPatch
    jsonPatch:
      expression: >
        oldObject == null ? [] : [JSONPatch{op: "add", path: "/metadata/annotations/updated", value: object.metadata.annotations["v"]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: dryrun-rewriting}
spec: {policyName: dryrun-rewriting}
`

func TestWhatAdmissionChangesInAnUpdateIsSaidToBeNoneOfTheManifests(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	deployment := func(v, rest string) string {
		return `
apiVersion: apps/v1
kind: Deployment
metadata: {name: rewritten, namespace: ` + namespace + `, annotations: {v: "` + v + `"}}
spec:
  ` + rest + `
  selector: {matchLabels: {app: a}}
  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: "registry.example/c:` + v + `"}]}}
`
	}
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, deployment("1", "replicas: 3"))
	mutatingPolicy(t, "dryrun-rewriting", strings.ReplaceAll(rewriting, "NAMESPACE", namespace))
	text := deployment("2", "strategy: {type: RollingUpdate}")
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		lines := planned(t, text)
		if strings.Contains(strings.Join(lines, "\n"), "mirror") {
			return poll.Success()
		}
		return poll.Continue("no policy yet: %v", lines)
	})
	made := built(t, observation{}.observe(t, text))
	assert.DeepEqual(t, describe(made), []string{
		"~ " + namespace + "/Deployment.apps/rewritten (update)",
		`+ metadata.annotations.updated: "2"`,
		`metadata.annotations.v: "1" → "2"`,
		"spec.replicas: 3 → 1", // a default
		`spec.template.spec.containers[name="c"].image: "registry.example/c:1" → "mirror/c:2"`,
	})
	slices.Sort(made.Changes[0].Notes)
	assert.DeepEqual(t, made.Changes[0].Notes, []string{
		"metadata.annotations.updated is not in the manifest: set by the server",
		`spec.template.spec.containers[name="c"].image is not as in the manifest: rewritten by admission`,
	})
}
