package build

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"

	"github.com/changeward/changeward/pkg/manifest"
)

// hide finds the fields of an object that hold the value of a Secret: those
// that become others where its variables have other values.
func (r *run) hide(ctx context.Context, before, done *resource.Resource, vars variables) error {
	if len(vars.secret) == 0 || done.GetKind() == "Secret" { // which is masked anyway
		return nil
	}
	other := map[string]string{}
	for key, value := range vars.all {
		if _, secret := vars.secret[key]; secret {
			value = "another-" + key
		}
		other[key] = value
	}
	probe, err := r.replaced(ctx, before, other)
	if err != nil {
		return fmt.Errorf("which fields hold values of Secrets cannot be told: %w", err)
	}
	real, err := done.Map()
	if err != nil {
		return err
	}
	changed, err := probe.Map()
	if err != nil {
		return err
	}
	paths := differing(real, changed, nil)
	for _, path := range paths {
		if len(path) == 0 || slices.Contains([]string{"apiVersion", "kind", "metadata"}, path[len(path)-1]) && len(path) == 1 || slices.Contains([]string{"metadata.name", "metadata.namespace"}, strings.Join(path, ".")) {
			return fmt.Errorf("%s holds the value of a Secret, and cannot be shown", strings.Join(path, "."))
		}
	}
	if len(paths) > 0 {
		object := manifest.Object{Content: real}
		r.result.Hidden[object.Key()] = paths
	}
	return nil
}

// differing are the paths at which two values differ. Where one has other keys
// or entries than the other, all of it does.
func differing(a, b any, path []string) [][]string {
	left, isMap := a.(map[string]any)
	right, both := b.(map[string]any)
	if isMap && both && len(left) == len(right) {
		var out [][]string
		for key := range left {
			if _, there := right[key]; !there {
				return [][]string{path}
			}
			out = append(out, differing(left[key], right[key], append(slices.Clone(path), key))...)
		}
		return out
	}
	list, isList := a.([]any)
	other, both := b.([]any)
	if isList && both && len(list) == len(other) {
		var out [][]string
		for i := range list {
			for _, found := range differing(list[i], other[i], append(slices.Clone(path), manifest.AnyEntry)) {
				if !slices.ContainsFunc(out, func(known []string) bool { return slices.Equal(known, found) }) {
					out = append(out, found)
				}
			}
		}
		return out
	}
	if reflect.DeepEqual(a, b) {
		return nil
	}
	return [][]string{path}
}
