package dryrun

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/manifest"
)

// arrivals is what a set brings that others of the set may need: its objects,
// those in error included, and kinds by their definitions.
type arrivals struct {
	objects map[manifest.Key]bool
	kinds   map[schema.GroupVersionKind]bool
}

func arrivalsOf(set manifest.Set, isHook func(manifest.Object) bool) arrivals {
	a := arrivals{objects: map[manifest.Key]bool{}, kinds: map[schema.GroupVersionKind]bool{}}
	for _, object := range slices.Concat(set.Objects, set.Refused) {
		if isHook(object) {
			continue
		}
		a.objects[object.Key()] = true
		if object.Group() == "apiextensions.k8s.io" && object.Kind() == "CustomResourceDefinition" {
			a.define(object.Content)
		}
	}
	return a
}

// define takes the served versions of a definition. What does not look like
// one is left to the server to refuse.
func (a arrivals) define(crd map[string]any) {
	spec, _ := crd["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	group, _ := spec["group"].(string)
	kind, _ := names["kind"].(string)
	versions, _ := spec["versions"].([]any)
	for _, entry := range versions {
		version, _ := entry.(map[string]any)
		name, _ := version["name"].(string)
		if served, said := version["served"].(bool); served || !said {
			a.kinds[schema.GroupVersionKind{Group: group, Version: name, Kind: kind}] = true
		}
	}
}
