package dryrun

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
)

// valuesOf are the values of LIVE that a manager holds, by apply or update,
// with the keys of the list entries that they stand in.
func valuesOf(live *unstructured.Unstructured, manager string, s *diff.Schema) (map[string]any, error) {
	held := &fieldpath.Set{}
	for _, entry := range live.GetManagedFields() {
		if entry.Manager != manager || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		set, err := FieldsOf(entry)
		if err != nil {
			return nil, err
		}
		held = held.Union(set)
	}
	if manifest.IsSecret(live.Object) {
		held = asData(held)
	}
	kind := typed.DeducedParseableType
	if s != nil {
		kind = typed.ParseableType{Schema: s.Types, TypeRef: s.Root}
	}
	object, err := kind.FromUnstructured(live.Object, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("the object does not fit its schema: %w", err)
	}
	values, ok := object.ExtractItems(held.Leaves(), typed.WithAppendKeyFields()).AsValue().Unstructured().(map[string]any)
	if !ok {
		return map[string]any{}, nil
	}
	return values, nil
}

// asData turns what a manager holds by stringData of a Secret into the data
// that it is.
func asData(held *fieldpath.Set) *fieldpath.Set {
	out := &fieldpath.Set{}
	held.Iterate(func(path fieldpath.Path) {
		path = path.Copy()
		if len(path) > 0 && path[0].FieldName != nil && *path[0].FieldName == "stringData" {
			path[0] = fieldpath.FieldNameElement("data")
		}
		out.Insert(path)
	})
	return out
}
