package fidelity_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

const oldScaler = `
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: scaler, namespace: NS, labels: {gone: "yes"}}
spec: {minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 70, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
`

const newScaler = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: scaler, namespace: NS}
spec:
  maxReplicas: 6
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`

func TestAnObjectThatMovesToAnotherVersionBecomesWhatThePlanSays(t *testing.T) {
	forced := []string{"--server-side", "--force-conflicts"}
	for _, c := range []struct {
		name          string
		made, applied []string
		applier       dryrun.Applier
	}{
		{"forced, after client-side", nil, forced, dryrun.KubectlServer("", true)},
		{"not forced, after client-side", nil, forced[:1], dryrun.KubectlServer("", false)},
		{"by another manager, after client-side", nil, append(forced, "--field-manager=ci"), dryrun.KubectlServer("ci", true)},
		{"forced, after server-side", forced[:1], forced, dryrun.KubectlServer("", true)},
		{"client-side, after client-side", nil, nil, dryrun.KubectlClient("", false)},
	} {
		t.Run(c.name, func(t *testing.T) {
			namespace := kubetest.Shared(t).Namespace(t)
			text := strings.ReplaceAll(newScaler, "NS", namespace)
			kubectlApply(t, strings.ReplaceAll(oldScaler, "NS", namespace), c.made...)
			prove(t, c.applier, text, real(t, text, c.applied...))
		})
	}
}

func TestAnAggregatedRoleIsNotCalledRewrittenByAdmission(t *testing.T) {
	role := "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: aggregated-" + kubetest.Shared(t).Namespace(t) +
		", labels: {a: b}}, aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}, rules: []}"
	for _, text := range []string{role, strings.ReplaceAll(role, "labels: {a: b}", "labels: {a: c}")} {
		seen := prove(t, dryrun.KubectlServer("", false), text, real(t, text, "--server-side"))[0]
		assert.Equal(t, len(seen.Admission), 0, "%v", seen.Admission)
		for _, note := range seen.Notes {
			assert.Assert(t, !strings.Contains(note, "admission"), note)
		}
	}
}
