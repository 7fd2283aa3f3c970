package install

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

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
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return item{}, fmt.Errorf("build %T: %w", object, err)
	}
	delete(content, "status")
	want := &unstructured.Unstructured{Object: content}
	want.SetCreationTimestamp(metav1.Time{})
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	return item{want: want}, nil
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

// client writes items. It is used with admin rights.
type client struct{ dynamic dynamic.Interface }

// resource is where objects of a kind are served; only kinds that an install
// makes are known.
func resource(kind string) schema.GroupVersionResource {
	switch kind {
	case "ValidatingAdmissionPolicy":
		return schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"}
	case "ValidatingAdmissionPolicyBinding":
		return schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"}
	case "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding":
		plural := map[string]string{"Role": "roles", "ClusterRole": "clusterroles", "RoleBinding": "rolebindings", "ClusterRoleBinding": "clusterrolebindings"}
		return schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: plural[kind]}
	case "Namespace":
		return schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	case "Secret":
		return schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	case "ServiceAccount":
		return schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	}
	return schema.GroupVersionResource{}
}

func (c client) at(object *unstructured.Unstructured) dynamic.ResourceInterface {
	served := c.dynamic.Resource(resource(object.GetKind()))
	if object.GetNamespace() == "" {
		return served
	}
	return served.Namespace(object.GetNamespace())
}

// observe fills in the live object. An object that is going away is an error:
// nothing can be built on it.
func (c client) observe(ctx context.Context, i *item) error {
	live, err := c.at(i.want).Get(ctx, i.want.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		i.live = nil
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %w", i, err)
	case live.GetDeletionTimestamp() != nil:
		return fmt.Errorf("%s is being deleted: wait until it is gone", i)
	}
	i.live = live
	return nil
}

// ensure does what action says, and keeps the written object as live.
func (c client) ensure(ctx context.Context, i *item) error {
	var err error
	switch i.action() {
	case ActionCreate:
		var made *unstructured.Unstructured
		if made, err = c.at(i.want).Create(ctx, i.want, metav1.CreateOptions{FieldManager: partOf}); err == nil {
			i.live = made
		}
	case ActionUpdate:
		var made *unstructured.Unstructured
		if made, err = c.at(i.want).Update(ctx, i.merged(), metav1.UpdateOptions{FieldManager: partOf}); err == nil {
			i.live = made
		}
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", i.action(), i, err)
	}
	return nil
}
