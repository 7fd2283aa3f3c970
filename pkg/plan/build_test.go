package plan_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

func configMap(name string, data map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "shop"}, "data": data,
	}
}

func TestWhatIsEncodedDecodesToTheSamePlan(t *testing.T) {
	p, err := plan.Build(plan.Input{
		Cluster: plan.Cluster{Name: "prod", UID: "u"},
		Observations: []plan.Observation{{
			Object: manifest.Object{Content: configMap("a", map[string]any{"x": "1"})},
			Live:   configMap("a", map[string]any{"x": "0"}),
			Merged: configMap("a", map[string]any{"x": "1"}),
		}},
	})
	assert.NilError(t, err)
	data, err := plan.Encode(p)
	assert.NilError(t, err)
	q, err := plan.Decode(data)
	assert.NilError(t, err)
	assert.Equal(t, q.Hash, p.Hash)
	again, err := plan.Encode(q)
	assert.NilError(t, err)
	assert.Equal(t, string(again), string(data))
}
