package apply

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/plan"
)

// HandOver passes to an owner's field manager what changeward holds of an object
// and the owner's desired object sets to the same value: only then does a later
// removal in Git remove it, and applying less as changeward would remove it now.
// No value changes. It answers whether there was anything to pass; an object
// that is gone has nothing.
func (c *Client) HandOver(ctx context.Context, path, owner string, desired map[string]any) (bool, error) {
	var err error
	for range attempts {
		var live *unstructured.Unstructured
		if live, err = c.get(ctx, path); apierrors.IsNotFound(err) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		entries, passed, err := passOn(live, owner, desired)
		if err != nil || !passed {
			return false, err
		}
		if err = c.manage(ctx, path, live.GetResourceVersion(), entries); err == nil {
			return true, nil
		}
		if !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) { // the test of a patch is answered as one of both
			return false, err
		}
	}
	return false, fmt.Errorf("others write the object all the time: %w", err)
}

// manage writes who holds the fields of one version of an object.
func (c *Client) manage(ctx context.Context, path, version string, entries []metav1.ManagedFieldsEntry) error {
	body, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/resourceVersion", "value": version},
		{"op": "replace", "path": "/metadata/managedFields", "value": entries},
	})
	if err != nil {
		return err
	}
	return c.server.Patch(types.JSONPatchType).AbsPath(path).Body(body).Param("fieldManager", plan.DirectManager).Do(ctx).Error()
}

// passOn is managedFields after changeward's fields that desired has, too, went
// to the owner.
func passOn(live *unstructured.Unstructured, owner string, desired map[string]any) ([]metav1.ManagedFieldsEntry, bool, error) {
	entries := live.GetManagedFields()
	from := entryOf(entries, plan.DirectManager, metav1.ManagedFieldsOperationApply)
	to := entryOf(entries, owner, metav1.ManagedFieldsOperationApply)
	if to < 0 {
		to = entryOf(entries, owner, metav1.ManagedFieldsOperationUpdate)
	}
	if from < 0 || to < 0 || entries[from].APIVersion != entries[to].APIVersion {
		return nil, false, nil
	}
	held, err := dryrun.FieldsOf(entries[from])
	if err != nil {
		return nil, false, err
	}
	owned, err := dryrun.FieldsOf(entries[to])
	if err != nil {
		return nil, false, err
	}
	passed := fieldpath.NewSet()
	held.Iterate(func(path fieldpath.Path) {
		if agree(live.Object, desired, path) {
			passed.Insert(path.Copy())
		}
	})
	if passed.Empty() {
		return nil, false, nil
	}
	if entries[to].FieldsV1, err = written(owned.Union(passed)); err != nil {
		return nil, false, err
	}
	rest := held.Difference(passed)
	if rest.Empty() {
		return append(entries[:from], entries[from+1:]...), true, nil
	}
	entries[from].FieldsV1, err = written(rest)
	return entries, true, err
}

func entryOf(entries []metav1.ManagedFieldsEntry, manager string, operation metav1.ManagedFieldsOperationType) int {
	for i, e := range entries {
		if e.Manager == manager && e.Operation == operation && e.Subresource == "" {
			return i
		}
	}
	return -1
}

func written(set *fieldpath.Set) (*metav1.FieldsV1, error) {
	raw, err := set.ToJSON()
	if err != nil {
		return nil, err
	}
	fields := &metav1.FieldsV1{}
	fields.SetRawBytes(raw)
	return fields, nil
}

// agree says whether two objects have the same at a path. Of an entry of a list
// it is enough that both have it: its members have paths of their own.
func agree(live, desired map[string]any, path fieldpath.Path) bool {
	have, there := lookUp(live, path)
	want, set := lookUp(desired, path)
	if !there || !set {
		return false
	}
	if _, isMap := want.(map[string]any); isMap && path[len(path)-1].Key != nil {
		return true
	}
	return value.Equals(value.NewValueInterface(have), value.NewValueInterface(want))
}

// lookUp finds what stands at a path.
func lookUp(at any, path fieldpath.Path) (any, bool) {
	for _, element := range path {
		found := false
		switch {
		case element.FieldName != nil:
			members, _ := at.(map[string]any)
			at, found = members[*element.FieldName]
		case element.Index != nil:
			if list, _ := at.([]any); *element.Index < len(list) {
				at, found = list[*element.Index], true
			}
		default:
			list, _ := at.([]any)
			for _, entry := range list {
				if found = isEntry(entry, element); found {
					at = entry
					break
				}
			}
		}
		if !found {
			return nil, false
		}
	}
	return at, true
}

// isEntry says whether an entry is the one that a path names. A key that a
// manifest leaves to its default matches.
func isEntry(entry any, element fieldpath.PathElement) bool {
	if element.Value != nil {
		return value.Equals(value.NewValueInterface(entry), *element.Value)
	}
	members, isMap := entry.(map[string]any)
	if !isMap || element.Key == nil {
		return false
	}
	some := false
	for _, key := range *element.Key {
		own, has := members[key.Name]
		if has && !value.Equals(value.NewValueInterface(own), key.Value) {
			return false
		}
		some = some || has
	}
	return some
}
