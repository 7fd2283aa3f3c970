package manifest

import (
	"maps"
	"strings"
)

// Strip drops what an object carries that was exported from a cluster, and
// that no applier can set: status, and the metadata that the server keeps. The
// notes say what was dropped. The given object is not changed.
func Strip(o Object) (Object, []string) {
	var dropped, notes []string
	drop := func(from map[string]any, path, key string) {
		if value, has := from[key]; has {
			if !empty(value) {
				dropped = append(dropped, Child(path, key))
			}
			delete(from, key)
		}
	}
	lock := text(o.metadata(), "resourceVersion")
	o.Content = maps.Clone(o.Content)
	drop(o.Content, "", "status")
	if o.metadata() != nil {
		o = o.withMetadata(func(metadata map[string]any) {
			for _, key := range []string{"managedFields", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
				"generation", "uid", "resourceVersion", "selfLink"} {
				drop(metadata, "metadata", key)
			}
		})
	}
	if len(dropped) > 0 {
		notes = append(notes, "dropped what the server keeps: "+strings.Join(dropped, ", "))
	}
	if lock != "" {
		notes = append(notes, "the lock that metadata.resourceVersion "+lock+" asked for is dropped, too: the object may have changed since")
	}
	return o, notes
}

// empty values stand in many generated manifests and are no export.
func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return false
	}
}
