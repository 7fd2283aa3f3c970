package manifest

import (
	"maps"
	"strings"
)

// Strip drops what an object carries that was exported from a cluster, and
// that no applier can set: status, and the metadata that the server keeps.
// Stripped keeps it, but for empty values. The given object is not changed.
func Strip(o Object) Object {
	kept := map[string]any{}
	drop := func(from, to map[string]any, key string) {
		if value, has := from[key]; has {
			if list, isList := value.([]any); !empty(value) || isList && list != nil { // servers refuse an empty list of managers, too
				to[key] = value
			}
			delete(from, key)
		}
	}
	o.Content = maps.Clone(o.Content)
	drop(o.Content, kept, "status")
	if o.metadata() != nil {
		members := map[string]any{}
		o = o.withMetadata(func(metadata map[string]any) {
			for _, key := range serverKept() {
				drop(metadata, members, key)
			}
		})
		if len(members) > 0 {
			kept["metadata"] = members
		}
	}
	if o.Stripped = nil; len(kept) > 0 {
		o.Stripped = kept
	}
	return o
}

// serverKept are the members of metadata that only the server sets.
func serverKept() []string {
	return []string{"managedFields", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
		"generation", "uid", "resourceVersion", "selfLink"}
}

// StripNotes say what was dropped by an applier that strips.
func (o Object) StripNotes() []string {
	var dropped, notes []string
	if o.Stripped["status"] != nil {
		dropped = append(dropped, "status")
	}
	members, _ := o.Stripped["metadata"].(map[string]any)
	for _, key := range serverKept() {
		if !empty(members[key]) {
			dropped = append(dropped, Child("metadata", key))
		}
	}
	if len(dropped) > 0 {
		notes = append(notes, "dropped what the server keeps: "+strings.Join(dropped, ", "))
	}
	if lock := text(members, "resourceVersion"); lock != "" {
		notes = append(notes, "the lock that metadata.resourceVersion "+lock+" asked for is dropped, too: the object may have changed since")
	}
	return notes
}

// Unstripped is content with what Strip dropped of the object, as an applier
// sends it that strips nothing. Neither is changed.
func (o Object) Unstripped(content map[string]any) map[string]any {
	out := maps.Clone(content)
	for key, value := range o.Stripped {
		if members, ok := value.(map[string]any); ok && key == "metadata" {
			metadata, _ := content["metadata"].(map[string]any)
			whole := maps.Clone(metadata)
			maps.Copy(whole, members)
			value = whole
		}
		out[key] = value
	}
	return out
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
