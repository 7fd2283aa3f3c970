package install

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/changeward/changeward/state"
)

// item is one object as an install wants it. Top-level fields that it does not
// have, and labels and annotations that it does not name, are left alone.
type item struct {
	want *unstructured.Unstructured
	// live is what was there when it was observed; nil: nothing.
	live *unstructured.Unstructured
}

// newItem makes an item of a typed object.
func newItem(object runtime.Object) (item, error) {
	if ready, ok := object.(*unstructured.Unstructured); ok {
		return item{want: ready}, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return item{}, fmt.Errorf("build %T: %w", object, err)
	}
	for _, field := range []string{"spec", "status"} { // a Namespace's, which are the server's
		delete(content, field)
	}
	want := &unstructured.Unstructured{Object: content}
	want.SetCreationTimestamp(metav1.Time{})
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	return item{want: want}, nil
}

func newItems(objects []runtime.Object) ([]item, error) {
	items := make([]item, 0, len(objects))
	for _, object := range objects {
		i, err := newItem(object)
		if err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	return items, nil
}

// String is Kind/namespace/name, or Kind/name.
func (i item) String() string { return objectName(i.want) }

func objectName(object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return object.GetKind() + "/" + object.GetName()
	}
	return object.GetKind() + "/" + object.GetNamespace() + "/" + object.GetName()
}

// action says what must be done to have the object as wanted.
func (i item) action() string {
	switch {
	case i.live == nil:
		return ActionCreate
	case len(i.differences()) > 0:
		return ActionUpdate
	}
	return ActionKeep
}

// differences names the wanted fields that the live object has otherwise.
func (i item) differences() []string {
	var fields []string
	for _, field := range slices.Sorted(maps.Keys(i.want.Object)) {
		switch field {
		case "apiVersion", "kind", "metadata":
			continue
		}
		if !same(i.want.Object[field], i.live.Object[field]) {
			fields = append(fields, field)
		}
	}
	if !contains(i.live.GetLabels(), i.want.GetLabels()) {
		fields = append(fields, "labels")
	}
	if !contains(i.live.GetAnnotations(), i.want.GetAnnotations()) {
		fields = append(fields, "annotations")
	}
	return fields
}

// merged is the live object with the wanted fields.
func (i item) merged() *unstructured.Unstructured {
	object := i.live.DeepCopy()
	for field, value := range i.want.Object {
		if field != "metadata" {
			object.Object[field] = runtime.DeepCopyJSONValue(value)
		}
	}
	object.SetLabels(union(object.GetLabels(), i.want.GetLabels()))
	object.SetAnnotations(union(object.GetAnnotations(), i.want.GetAnnotations()))
	return object
}

// same compares JSON values; null and an empty list are one.
func same(a, b any) bool {
	left, errA := state.Canonical(emptied(a))
	right, errB := state.Canonical(emptied(b))
	return errA == nil && errB == nil && bytes.Equal(left, right)
}

func emptied(value any) any {
	if list, ok := value.([]any); ok && len(list) == 0 {
		return nil
	}
	return value
}

func contains(whole, part map[string]string) bool {
	for key, value := range part {
		if got, ok := whole[key]; !ok || got != value {
			return false
		}
	}
	return true
}

func union(a, b map[string]string) map[string]string {
	if len(a)+len(b) == 0 {
		return nil
	}
	out := map[string]string{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
