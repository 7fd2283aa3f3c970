package argocd_test

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/manifest"
)

// Whatever lies in the cluster under the name of an Application, or in the
// settings of Argo CD: it is read or refused, and what was read decides about
// any object.
func FuzzAnApplicationAndSettingsAreReadOrRefused(f *testing.F) {
	for _, seed := range []string{
		"{metadata: {name: shop, namespace: argocd}, spec: {syncPolicy: {syncOptions: [ServerSideApply=true, =, Replace]}, ignoreDifferences: [{kind: ConfigMap, jsonPointers: [/data], jqPathExpressions: ['.data | select']}]}}",
		"{operation: {sync: {resources: [{kind: ConfigMap, name: web}], syncStrategy: {hook: {force: true}}}}, status: {operationState: {phase: Running}, resources: [{}]}}",
		"{metadata: {annotations: {argocd.argoproj.io/sync-options: 'Prune=false,,', argocd.argoproj.io/tracking-id: 'a:b/c:d/e'}}, data: {resource.exclusions: '- apiGroups: [\"[\"]', resource.customizations: '{'}}",
		"{metadata: [], spec: 1}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		var content map[string]any
		if yaml.Unmarshal(data, &content) != nil {
			return
		}
		said := map[string]string{}
		if members, ok := content["data"].(map[string]any); ok {
			for key, value := range members {
				said[key], _ = value.(string)
			}
		}
		settings, object := argocd.ReadSettings("argocd", said), manifest.Object{Content: content}
		a, err := argocd.ReadApplication(content)
		if err != nil {
			return
		}
		_ = a.Options(object, content)
		_ = a.Keep(content, settings)
		_, _ = a.TrackingID(object.Key(), settings)
		_ = a.InstanceName(settings)
		_ = argocd.NewApplier(a, settings)
	})
}
