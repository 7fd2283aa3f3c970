package manifest_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest"
)

func annotated(annotations map[string]any) manifest.Object {
	return manifest.Object{Content: map[string]any{"metadata": map[string]any{"annotations": annotations}}}
}

func TestHooksAreThoseOfArgoCDAndHelm(t *testing.T) {
	const argo, helm = "argocd.argoproj.io/hook", "helm.sh/hook"
	for _, c := range []struct {
		name        string
		annotations map[string]any
		isHook      bool
		phases      []string
		warnings    []string
	}{
		{"none", map[string]any{"argocd.argoproj.io/sync-wave": "1"}, false, nil, nil},
		{"Helm list", map[string]any{helm: "pre-install, pre-delete,pre-install"}, true, []string{"pre-install", "pre-delete"}, nil},
		{"Helm reads any case", map[string]any{helm: "Pre-Install"}, true, []string{"pre-install"}, nil},
		{"Helm unknown", map[string]any{helm: "pre-install,sometimes"}, true, []string{"pre-install"}, []string{`unknown hook phase "sometimes" in helm.sh/hook`}},
		{"Helm 2 CRD", map[string]any{helm: "crd-install"}, false, nil,
			[]string{"helm.sh/hook: crd-install is no hook for Argo CD; Helm 3 and later skip the object"}},
		{"Argo list", map[string]any{argo: "PreSync, PostSync"}, true, []string{"PreSync", "PostSync"}, nil},
		{"Argo wrong case", map[string]any{argo: "presync"}, true, nil, []string{`unknown hook phase "presync" in argocd.argoproj.io/hook`}},
		{"Argo empty", map[string]any{argo: ""}, true, nil, []string{`unknown hook phase "" in argocd.argoproj.io/hook`}},
		{"Argo before Helm", map[string]any{argo: "Sync", helm: "pre-install"}, true, []string{"Sync"}, nil},
		{"Helm where Argo is unknown", map[string]any{argo: "x", helm: "pre-install"}, true, []string{"pre-install"},
			[]string{`unknown hook phase "x" in argocd.argoproj.io/hook`}},
		{"Argo with an empty end", map[string]any{argo: "PreSync, "}, true, []string{"PreSync"}, nil},
		{"Argo blank", map[string]any{argo: "  "}, true, nil, []string{`unknown hook phase "  " in argocd.argoproj.io/hook`}},
		{"Argo two in one", map[string]any{argo: "PreSync\nPostSync"}, true, nil, []string{"unknown hook phase \"PreSync\\nPostSync\" in argocd.argoproj.io/hook"}},
		{"Skip in the wrong case", map[string]any{argo: "skip"}, true, nil, []string{`unknown hook phase "skip" in argocd.argoproj.io/hook`}},
		{"Skip twice is Skip alone", map[string]any{argo: "Skip,Skip"}, false, nil, []string{"argocd.argoproj.io/hook: Skip: Argo CD never applies this object"}},
		{"keys have a case", map[string]any{"ArgoCD.argoproj.io/Hook": "PreSync"}, false, nil, nil},
		{"Helm empty", map[string]any{helm: ""}, true, nil, []string{`unknown hook phase "" in helm.sh/hook`}},
		{"Skip alone", map[string]any{argo: " Skip ", helm: "pre-install"}, false, nil, []string{"argocd.argoproj.io/hook: Skip: Argo CD never applies this object"}},
		{"Skip beside a phase", map[string]any{argo: "Skip,SyncFail"}, true, []string{"SyncFail"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			phases, warnings, isHook := manifest.Hook(annotated(c.annotations))
			assert.Equal(t, isHook, c.isHook)
			assert.DeepEqual(t, phases, c.phases)
			assert.DeepEqual(t, warnings, c.warnings)
		})
	}
}

func TestTheHooksOfTheCaseAreAllSeen(t *testing.T) {
	objects, _, problems := read(t, "B47-hook-lists.yaml")
	assert.Equal(t, len(problems), 0)
	var all [][]string
	for _, object := range objects {
		phases, _, isHook := manifest.Hook(object)
		assert.Assert(t, isHook)
		all = append(all, phases)
	}
	assert.DeepEqual(t, all, [][]string{{"pre-install", "pre-delete"}, {"PreSync", "PostSync"}, nil, nil})
}

func TestControlListsWhatSteersAppliersAndNothingElse(t *testing.T) {
	object := annotated(map[string]any{
		"kustomize.toolkit.fluxcd.io/ssa":    "IfNotPresent",
		"kustomize.toolkit.fluxcd.io/prune":  "disabled",
		"argocd.argoproj.io/sync-options":    "Prune=false,Replace=true",
		"argocd.argoproj.io/compare-options": "IgnoreExtraneous",
		"argocd.argoproj.io/tracking-id":     "shop:/ConfigMap:shop/x",
		"helm.sh/resource-policy":            "keep",
		"example.com/note":                   "x",
		"kubectl.kubernetes.io/restartedAt":  "x",
	})
	object.Content["metadata"].(map[string]any)["labels"] = map[string]any{
		"kustomize.toolkit.fluxcd.io/reconcile": "disabled", "kustomize.toolkit.fluxcd.io/name": "apps", "helm.sh/chart": "x-1", "app": "x"}
	assert.DeepEqual(t, manifest.Control(object), map[string]string{
		"kustomize.toolkit.fluxcd.io/ssa":             "IfNotPresent",
		"kustomize.toolkit.fluxcd.io/prune":           "disabled",
		"argocd.argoproj.io/sync-options":             "Prune=false,Replace=true",
		"argocd.argoproj.io/compare-options":          "IgnoreExtraneous",
		"helm.sh/resource-policy":                     "keep",
		"label:kustomize.toolkit.fluxcd.io/reconcile": "disabled",
	})
}
