package incident

import (
	"github.com/changeward/changeward/pkg/manifest"
)

// Order sorts owners so that each comes after those that it depends on, and
// otherwise as they are: children before the parents that were suspended for
// them. A cycle, which Flux never gets out of either, is left as it is.
func Order(owners []manifest.Key, dependsOn map[manifest.Key][]manifest.Key) []manifest.Key {
	var out []manifest.Key
	seen, wanted := map[manifest.Key]bool{}, map[manifest.Key]bool{}
	for _, key := range owners {
		wanted[key] = true
	}
	var visit func(key manifest.Key)
	visit = func(key manifest.Key) {
		if seen[key] {
			return
		}
		seen[key] = true
		for _, needed := range dependsOn[key] {
			visit(needed)
		}
		if wanted[key] {
			out = append(out, key)
		}
	}
	for _, key := range owners {
		visit(key)
	}
	return out
}

// DependsOn are the owners of an owner's own kind that it waits for.
func (o Owner) DependsOn() []manifest.Key {
	spec, _ := o.Object.Object["spec"].(map[string]any)
	list, _ := spec["dependsOn"].([]any)
	var out []manifest.Key
	for _, entry := range list {
		members, _ := entry.(map[string]any)
		key := o.Key
		key.Name, _ = members["name"].(string)
		if namespace, _ := members["namespace"].(string); namespace != "" {
			key.Namespace = namespace
		}
		out = append(out, key)
	}
	return out
}
