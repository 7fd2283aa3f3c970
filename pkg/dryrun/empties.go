package dryrun

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
)

// effective is a new object without the empty members that make no difference:
// nulls, and empty lists and maps. Many an empty member means something, as an
// emptyDir or a namespaceSelector does, so the server decides: stored is what it
// would keep of the object before admission. What is not there it dropped; what
// is there empty, and is in each object of the kind, says nothing either.
func effective(object manifest.Object, stored map[string]any, merged *unstructured.Unstructured, s *diff.Schema) map[string]any {
	content := object.Content
	for {
		gone := vanished(content, stored, merged, s)
		if len(gone) == 0 {
			break
		}
		for _, path := range gone { // what held nothing else is empty now
			content = diff.Without(content, path)
		}
	}
	said, known := typedForm(manifest.Object{Content: content})
	always, also := typedForm(manifest.Object{Content: pruned(content)})
	if !known || !also {
		return content
	}
	out, _ := telling(content, said, always).(map[string]any)
	return out
}

// vanished are the paths of empty members that the server does not keep.
func vanished(content, stored map[string]any, merged *unstructured.Unstructured, s *diff.Schema) (paths []string) {
	for _, missing := range diff.Objects(stored, content, nil, s) {
		if missing.Action != diff.Add || !isHollow(missing.New) {
			continue
		}
		_, kept := diff.At(stored, missing.Path)
		now, there := diff.At(merged.Object, missing.Path)
		if !kept && !(there && isHollow(now)) {
			paths = append(paths, missing.Path)
		}
	}
	return paths
}

// isHollow says that a value is null, or a list or map without members.
func isHollow(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// pruned is a value without its empty members; entries of lists stay.
func pruned(value map[string]any) map[string]any {
	out := make(map[string]any, len(value))
	for key, member := range value {
		if member = prunedMember(member); !isHollow(member) {
			out[key] = member
		}
	}
	return out
}

func prunedMember(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return pruned(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = prunedMember(v[i])
		}
		return out
	}
	return value
}

// telling drops what the kind's own form does not tell from silence: a null that
// it lacks, and an empty map that it has without being told, such as a
// container's resources. said is that form, always the form without all that is
// empty. A selector stays: that it selects all should be seen.
func telling(own, said, always any) any {
	switch own := own.(type) {
	case map[string]any:
		saidMembers, _ := said.(map[string]any)
		members, _ := always.(map[string]any)
		out := make(map[string]any, len(own))
		for key, value := range own {
			form, there := saidMembers[key]
			if value == nil && !there || isEmptyMap(value) && isEmptyMap(members[key]) && !strings.HasSuffix(strings.ToLower(key), "selector") {
				continue
			}
			out[key] = telling(value, form, members[key])
		}
		return out
	case []any:
		saidEntries, _ := said.([]any)
		entries, _ := always.([]any)
		if len(saidEntries) != len(own) || len(entries) != len(own) {
			return own
		}
		out := make([]any, len(own))
		for i := range own {
			out[i] = telling(own[i], saidEntries[i], entries[i])
		}
		return out
	}
	return own
}

func isEmptyMap(value any) bool {
	members, isMap := value.(map[string]any)
	return isMap && len(members) == 0
}
