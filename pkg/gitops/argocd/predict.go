package argocd

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/changeward/changeward/pkg/dryrun"
)

// predicted is LIVE with what a dry run changed in fields that Argo CD owns
// then, or owned before: what defaults and admission change elsewhere is no
// difference to it.
func predicted(live, merged *unstructured.Unstructured, kind typed.ParseableType) (*unstructured.Unstructured, error) {
	after, err := kind.FromUnstructured(merged.Object)
	if err != nil {
		return nil, err
	}
	before, err := kind.FromUnstructured(live.Object)
	if err != nil {
		return nil, err
	}
	owned, err := heldBy(merged.GetManagedFields(), Manager)
	if err != nil {
		return nil, err
	}
	all, err := after.ToFieldSet()
	if err != nil {
		return nil, err
	}
	foreign := withoutAncestors(all.Difference(owned), owned)
	compared, err := before.Compare(after)
	if err != nil {
		return nil, err
	}
	ownedBefore, err := heldBy(live.GetManagedFields(), Manager)
	if err != nil {
		return nil, err
	}
	removed := compared.Removed.Difference(foreign)
	removed = removed.Difference(withoutAncestors(removed.Difference(ownedBefore), ownedBefore))
	result, err := before.Merge(after.RemoveItems(withoutKeys(foreign)))
	if err != nil {
		return nil, err
	}
	content, ok := result.RemoveItems(removed).AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the prediction is no object")
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// heldBy is all that a manager holds, by whatever operation.
func heldBy(entries []metav1.ManagedFieldsEntry, manager string) (*fieldpath.Set, error) {
	out := &fieldpath.Set{}
	for _, entry := range entries {
		if entry.Manager != manager || entry.FieldsV1 == nil {
			continue
		}
		set, err := dryrun.FieldsOf(entry)
		if err != nil {
			return nil, err
		}
		out = out.Union(set)
	}
	return out, nil
}

// withoutAncestors drops the paths below which there is something owned.
func withoutAncestors(paths, owned *fieldpath.Set) *fieldpath.Set {
	out := fieldpath.NewSet()
	paths.Iterate(func(path fieldpath.Path) {
		below := owned
		for _, element := range path {
			if below = below.WithPrefix(element); below.Empty() {
				out.Insert(path)
				return
			}
		}
	})
	return out
}

// withoutKeys drops the fields by which the entries of a list are told apart,
// where those are several.
func withoutKeys(paths *fieldpath.Set) *fieldpath.Set {
	out := fieldpath.NewSet()
	paths.Iterate(func(path fieldpath.Path) {
		if !isKey(path) {
			out.Insert(path)
		}
	})
	return out
}

func isKey(path fieldpath.Path) bool {
	last := path[len(path)-1].FieldName
	if last == nil {
		return false
	}
	for _, element := range path[:len(path)-1] {
		if element.Key == nil || len(*element.Key) < 2 {
			continue
		}
		for _, key := range *element.Key {
			if key.Name == *last {
				return true
			}
		}
	}
	return false
}
