package flux

import (
	"github.com/fluxcd/pkg/ssa"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// prepare is what the controller does to a live object before it applies, in
// place; nil is nothing.
func (c Controller) prepare(apiVersion string, merges bool) func(live *unstructured.Unstructured) error {
	if merges && !c.MigratesVersions {
		return nil
	}
	return func(live *unstructured.Unstructured) error {
		if c.MigratesVersions {
			patches, err := ssa.PatchMigrateToVersion(live, apiVersion)
			if err != nil {
				return err
			}
			for _, patch := range patches {
				live.SetManagedFields(patch.Value)
			}
		}
		if merges {
			return nil
		}
		return c.cleanUp(live)
	}
}

// cleanUp changes a live object, in place, as the controller does before it
// applies: it takes over what kubectl and its own old self hold, and drops
// what they left in the metadata.
func (c Controller) cleanUp(live *unstructured.Unstructured) error {
	if annotations := live.GetAnnotations(); annotations != nil {
		for _, key := range []string{corev1.LastAppliedConfigAnnotation, Group + "/checksum", "fluxcd.io/sync-checksum"} {
			delete(annotations, key)
		}
		live.SetAnnotations(annotations)
	}
	if labels := live.GetLabels(); labels != nil {
		delete(labels, "fluxcd.io/sync-gc-mark")
		live.SetLabels(labels)
	}
	patches, err := ssa.PatchReplaceFieldsManagers(live, c.takenOver(), Manager)
	for _, patch := range patches {
		live.SetManagedFields(patch.Value)
	}
	return err
}

// takenOver are the managers whose fields the controller takes over; a name
// stands for all that start with it.
func (c Controller) takenOver() []ssa.FieldManager {
	out := []ssa.FieldManager{
		{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationApply},
		{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationUpdate},
		{Name: "before-first-apply", OperationType: metav1.ManagedFieldsOperationUpdate},
		{Name: Manager, OperationType: metav1.ManagedFieldsOperationUpdate},
	}
	for _, name := range c.Overrides {
		out = append(out, ssa.FieldManager{Name: name, OperationType: metav1.ManagedFieldsOperationApply},
			ssa.FieldManager{Name: name, OperationType: metav1.ManagedFieldsOperationUpdate})
	}
	return out
}
