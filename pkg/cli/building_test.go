package cli

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestAnAddressInsideOfTheClusterIsToldFromOthers(t *testing.T) {
	for host, want := range map[string][2]string{
		"source-controller.flux-system.svc.cluster.local.": {"source-controller", "flux-system"},
		"source-controller.flux-system.svc":                {"source-controller", "flux-system"},
		"a.b.svc.example.com":                              {"a", "b"},
		"127.0.0.1":                                        {},
		"artifacts.example.com":                            {},
		"svc":                                              {},
		"":                                                 {},
	} {
		service, namespace, ok := serviceOf(host)
		assert.DeepEqual(t, [2]string{service, namespace}, want)
		assert.Equal(t, ok, want != [2]string{}, host)
	}
}
