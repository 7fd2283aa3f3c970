package gitops

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestWhenFluxSyncsNext(t *testing.T) {
	for want, spec := range map[string]map[string]any{
		"every 10m, or sooner":                      {"interval": "10m"},
		"not before it is resumed: it is suspended": {"interval": "10m", "suspend": true},
		"": {},
	} {
		assert.Equal(t, fluxWhen(map[string]any{"spec": spec}), want)
	}
}
