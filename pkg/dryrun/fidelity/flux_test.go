package fidelity_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/jsondiff"
	"github.com/fluxcd/pkg/ssa/normalize"
	"github.com/fluxcd/pkg/ssa/utils"
	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

// fluxOptions are those of kustomize-controller 1.9.6, without flags.
func fluxOptions(k *flux.Kustomization) ssa.ApplyOptions {
	options := ssa.DefaultApplyOptions()
	options.WaitInterval = 50 * time.Millisecond
	options.Force = k.Force
	options.ExclusionSelector = map[string]string{flux.Group + "/reconcile": "disabled", flux.Group + "/ssa": "Ignore"}
	options.IfNotPresentSelector = map[string]string{flux.Group + "/ssa": "IfNotPresent"}
	options.ForceSelector = map[string]string{flux.Group + "/force": "enabled"}
	options.Cleanup = ssa.ApplyCleanupOptions{
		Annotations: []string{corev1.LastAppliedConfigAnnotation, "kustomize.toolkit.fluxcd.io/checksum", "fluxcd.io/sync-checksum"},
		Labels:      []string{"fluxcd.io/sync-gc-mark"},
		FieldManagers: []ssa.FieldManager{
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationApply},
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: "before-first-apply", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: "kustomize-controller", OperationType: metav1.ManagedFieldsOperationUpdate},
		},
		Exclusions: map[string]string{flux.Group + "/ssa": "Merge"},
	}
	for _, name := range k.Controller.Overrides {
		options.Cleanup.FieldManagers = append(options.Cleanup.FieldManagers, ssa.FieldManager{Name: name, OperationType: metav1.ManagedFieldsOperationApply},
			ssa.FieldManager{Name: name, OperationType: metav1.ManagedFieldsOperationUpdate})
	}
	options.MigrateAPIVersion = k.Controller.MigratesVersions
	for _, rule := range k.Ignore {
		compiled := jsondiff.IgnoreRule{Paths: rule.Paths}
		if rule.Target != nil {
			compiled.Selector = &jsondiff.Selector{Kind: rule.Target.Kind, Name: rule.Target.Name}
		}
		options.DriftIgnoreRules = append(options.DriftIgnoreRules, compiled)
	}
	return options
}

// fluxApply applies each object of a text with Flux's own code, and reports it
// as kubectl would.
func fluxApply(t *testing.T, k *flux.Kustomization, text string) func() string {
	return func() string {
		t.Helper()
		config := kubetest.Shared(t).Config(kubetest.Admin)
		config.WarningHandler = rest.NoWarnings{}
		writer, err := client.New(config, client.Options{})
		assert.NilError(t, err)
		manager := ssa.NewResourceManager(writer, nil, ssa.Owner{Field: "kustomize-controller", Group: flux.Group})
		objects, err := utils.ReadObjects(strings.NewReader(text))
		assert.NilError(t, err)
		if k.Name != "" {
			manager.SetOwnerLabels(objects, k.Name, k.Namespace)
		}
		assert.NilError(t, normalize.UnstructuredList(objects))
		utils.SetCommonMetadata(objects, k.CommonLabels, k.CommonAnnotations)
		var said strings.Builder
		for _, object := range objects {
			done, err := manager.ApplyAll(t.Context(), []*unstructured.Unstructured{object}, fluxOptions(k))
			if err != nil {
				fmt.Fprintf(&said, "%s: %v\n", object.GetName(), err)
				continue
			}
			kind := strings.ToLower(object.GroupVersionKind().GroupKind().String())
			fmt.Fprintf(&said, "%s/%s %s\n", kind, object.GetName(), done.Entries[0].Action)
		}
		return said.String()
	}
}

func fluxApplier(t *testing.T, k *flux.Kustomization) dryrun.Applier {
	t.Helper()
	applier, err := flux.NewApplier(k)
	assert.NilError(t, err)
	return applier
}

func apps() *flux.Kustomization { return &flux.Kustomization{Namespace: "flux-system", Name: "apps"} }

// proveFlux plans as Flux, applies with Flux's code, and compares.
func proveFlux(t *testing.T, k *flux.Kustomization, text string) []plan.Observation {
	t.Helper()
	return prove(t, fluxApplier(t, k), text, fluxApply(t, k, text))
}

func TestObjectsOfManyKindsBecomeWhatThePlanForFluxSaysWhoeverMadeThem(t *testing.T) {
	settle(t)
	for name, made := range map[string]func(t *testing.T, text string) func() string{
		"Flux":                func(t *testing.T, text string) func() string { return fluxApply(t, apps(), text) },
		"kubectl":             func(t *testing.T, text string) func() string { return real(t, text) },
		"kubectl server-side": func(t *testing.T, text string) func() string { return real(t, text, "--server-side") },
		"another applier": func(t *testing.T, text string) func() string {
			return real(t, text, "--server-side", "--field-manager=ci")
		},
		"nobody": func(*testing.T, string) func() string { return func() string { return "" } },
	} {
		t.Run(name, func(t *testing.T) {
			first, second := versions(t, "objects.yaml", kubetest.Shared(t).Namespace(t))
			made(t, first)()
			k := apps()
			k.CommonLabels, k.CommonAnnotations = map[string]string{"team": "a"}, map[string]string{"contact": "a@example.com"}
			proveFlux(t, k, second)
			for _, o := range proveFlux(t, k, second) {
				if o.Failure != nil || o.Object.Kind() == "Secret" {
					continue
				}
				assert.Check(t, len(texts(t, o)) == 0, "%s: planned again: %v", o.Object.Key(), texts(t, o))
			}
		})
	}
}

// texts are the transitions of a plan for one object.
func texts(t *testing.T, o plan.Observation) []string {
	t.Helper()
	built, err := plan.Build(plan.Input{Cluster: plan.Cluster{UID: "uid"}, Observations: []plan.Observation{o}})
	assert.NilError(t, err)
	var out []string
	for _, change := range built.Changes {
		for _, transition := range change.Body.Transitions {
			out = append(out, plan.TransitionText(transition))
		}
	}
	return out
}
