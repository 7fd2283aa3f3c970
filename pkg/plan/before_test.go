package plan_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

func TestTheBeforeStateHoldsWhatIsUpdatedAndNothingElse(t *testing.T) {
	object := func(name, value string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"k": value},
			"metadata": map[string]any{"name": name, "namespace": "shop", "uid": name, "resourceVersion": "1"}}
	}
	observations := []plan.Observation{
		{Object: manifest.Object{Content: object("a", "new")}, Live: object("a", "old"), Merged: object("a", "new")},
		{Object: manifest.Object{Content: object("b", "same")}, Live: object("b", "same"), Merged: object("b", "same")},
		{Object: manifest.Object{Content: object("c", "new")}, Merged: object("c", "new")},
	}
	p, err := plan.Build(plan.Input{Observations: observations})
	assert.NilError(t, err)
	before, err := plan.Before(p, observations)
	assert.NilError(t, err)
	assert.Equal(t, string(before), `[{"group":"","kind":"ConfigMap","name":"a","namespace":"shop","object":`+
		`{"apiVersion":"v1","data":{"k":"old"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"shop"}},"version":"v1"}]`)
}
