package plan_test

import (
	"fmt"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// deployments are n observations of Deployments: of each three one is new, one
// gets another image, one is unchanged.
func deployments(n int) []plan.Observation {
	var out []plan.Observation
	for i := range n {
		o := plan.Observation{
			Object:  manifest.Object{Content: deployment(fmt.Sprintf("d%05d", i), "registry.example/app:2")},
			Merged:  deployment(fmt.Sprintf("d%05d", i), "registry.example/app:2"),
			Applier: plan.Applier{Name: "changeward", Mode: plan.ModeServerSide, Manager: "changeward"},
		}
		switch i % 3 {
		case 0:
			o.Live = deployment(fmt.Sprintf("d%05d", i), "registry.example/app:1")
		case 1:
			o.Live = deployment(fmt.Sprintf("d%05d", i), "registry.example/app:2")
		}
		out = append(out, o)
	}
	return out
}

func deployment(name, image string) map[string]any {
	var env []any
	for i := range 20 {
		env = append(env, map[string]any{"name": fmt.Sprintf("VARIABLE_%d", i), "value": "some value"})
	}
	probe := map[string]any{"httpGet": map[string]any{"path": "/healthz", "port": int64(8080), "scheme": "HTTP"}, "periodSeconds": int64(10)}
	container := map[string]any{"name": "app", "image": image, "env": env, "livenessProbe": probe, "readinessProbe": probe}
	labels := map[string]any{"app": name, "team": "shop"}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": name, "namespace": "shop", "labels": labels},
		"spec": map[string]any{
			"replicas": int64(3), "selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{container}}},
		},
	}
}

func BenchmarkBuildOf5000Objects(b *testing.B) {
	observations := deployments(5000)
	for b.Loop() {
		p, err := plan.Build(plan.Input{Cluster: plan.Cluster{UID: "u"}, Observations: observations})
		assert.NilError(b, err)
		assert.Assert(b, p.Complete())
	}
}
