package flux

import (
	"github.com/fluxcd/pkg/ssa"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// cleanUp changes a live object, in place, as the controller does before it
// applies: it takes over what kubectl and its own old self hold, and drops
// what they left in the metadata.
func cleanUp(live *unstructured.Unstructured) error {
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
	patches, err := ssa.PatchReplaceFieldsManagers(live, takenOver(), Manager)
	for _, patch := range patches {
		live.SetManagedFields(patch.Value)
	}
	return err
}

// takenOver are the managers whose fields the controller takes over; a name
// stands for all that start with it.
func takenOver() []ssa.FieldManager {
	return []ssa.FieldManager{
		{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationApply},
		{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationUpdate},
		{Name: "before-first-apply", OperationType: metav1.ManagedFieldsOperationUpdate},
		{Name: Manager, OperationType: metav1.ManagedFieldsOperationUpdate},
	}
}
