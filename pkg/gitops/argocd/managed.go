package argocd

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/changeward/changeward/pkg/dryrun"
)

// withoutManaged takes out of both objects the fields in which they differ and
// which one of the managers holds. Objects that do not fit the schema stay as
// they are.
func withoutManaged(live, target *unstructured.Unstructured, managers []string, kind typed.ParseableType) (_, _ *unstructured.Unstructured, err error) {
	typedLive, liveErr := kind.FromUnstructured(live.Object)
	typedTarget, targetErr := kind.FromUnstructured(target.Object)
	if liveErr != nil || targetErr != nil {
		return live, target, nil
	}
	compared, err := typedLive.Compare(typedTarget)
	if err != nil {
		return live, target, nil
	}
	held := false
	for _, entry := range live.GetManagedFields() {
		if !slices.Contains(managers, entry.Manager) || entry.FieldsV1 == nil {
			continue
		}
		held = true
		set, err := dryrun.FieldsOf(entry)
		if err != nil {
			return nil, nil, err
		}
		if common := set.Intersection(compared.Modified); !common.Empty() {
			typedLive, typedTarget = typedLive.RemoveItems(common), typedTarget.RemoveItems(common)
		}
	}
	if !held {
		return live, target, nil
	}
	out := make([]*unstructured.Unstructured, 2)
	for i, value := range []*typed.TypedValue{typedLive, typedTarget} {
		content, ok := value.AsValue().Unstructured().(map[string]any)
		if !ok {
			return nil, nil, fmt.Errorf("nothing is left of it without the fields of %v", managers)
		}
		out[i] = &unstructured.Unstructured{Object: content}
	}
	return out[0], out[1], nil
}
