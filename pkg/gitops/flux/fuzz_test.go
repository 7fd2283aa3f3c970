package flux_test

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/manifest"
)

// Whatever lies in the cluster under the name of an owner: it is read or
// refused, and what was read decides about any object.
func FuzzAKustomizationAndItsControllerAreReadOrRefused(f *testing.F) {
	for _, seed := range []string{
		"{metadata: {name: apps, namespace: flux-system}, spec: {prune: true, ignore: [{paths: [/spec/replicas], target: {kind: Deployment, name: '('}}]}, status: {inventory: {entries: [{id: a_b__C, v: v1}]}}}",
		"{spec: {commonMetadata: {labels: {a: b}}, targetNamespace: x, force: true}, metadata: {labels: {kustomize.toolkit.fluxcd.io/name: apps}}}",
		"{spec: {template: {spec: {containers: [{name: manager, args: [--override-manager=x, --feature-gates=A=true, --default-service-account=a]}]}}}}",
		"{metadata: 1, spec: [], status: {inventory: null}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		var content map[string]any
		if yaml.Unmarshal(data, &content) != nil {
			return
		}
		_, _ = flux.ReadController(content)
		_, _ = flux.ReadInventory(content)
		_ = flux.Skip(manifest.Object{Content: content}, content)
		_ = flux.Claims(manifest.Object{Content: content})
		if k, err := flux.ReadKustomization(content); err == nil {
			_ = k.Keep(content)
			_, _ = flux.NewApplier(k)
		}
	})
}
