package fidelity_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

func TestWhatAnApplyAfterTheTakeOverIsRefusedStandsAsTheFirstOneLeftItAndIsNoted(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	job := strings.ReplaceAll(`{apiVersion: batch/v1, kind: Job, metadata: {name: refused-again, namespace: NS}, spec: {suspend: true, PARALLEL template:
  {spec: {restartPolicy: Never, containers: [{name: c, image: registry.example/job}]}}}}`, "NS", namespace)
	kubectlApply(t, strings.ReplaceAll(job, "PARALLEL", ""))
	next := strings.ReplaceAll(job, "PARALLEL", "parallelism: 3,")
	flags := []string{"apply", "--server-side", "--force-conflicts", "-f", "-"}
	applier := dryrun.KubectlServer("", true)

	seen := prove(t, applier, next, func() string { return try(t, next, flags...).Combined() })
	assert.Assert(t, seen[0].Failure == nil)
	assert.DeepEqual(t, seen[0].Notes, []string{"this apply succeeds with a warning, and the next one fails: " +
		"kubectl takes over what client-side apply held, and the manifest lacks spec.completions"})

	seen = prove(t, applier, next, func() string { return try(t, next, flags...).Combined() })
	assert.Assert(t, seen[0].Failure != nil, "the next apply fails, and so does its plan")
}

func TestAReplaceOfWhatFinalizersHoldSaysWhatItWaitsFor(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	claim := strings.ReplaceAll(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: held, namespace: NS},
  spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`, "NS", namespace)
	kubectlApply(t, claim)
	seen := observe(t, dryrun.KubectlClient("", true), strings.Replace(claim, "ReadWriteOnce", "ReadWriteMany", 1))
	assert.Assert(t, seen[0].Failure == nil && seen[0].Replace)
	assert.DeepEqual(t, seen[0].Notes, []string{"it is gone, and made anew, only once its finalizers are removed " +
		"(kubernetes.io/pvc-protection): an applier that waits in vain leaves it deleted"})
}
