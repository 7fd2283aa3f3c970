package dryrun

import (
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/changeward/changeward/pkg/diff"
)

// declared is a value without the fields that the schema does not know, which
// the server drops unless it is asked to refuse them.
func declared(value any, s *diff.Schema, atom smd.Atom) any {
	switch value := value.(type) {
	case map[string]any:
		if atom.Map == nil {
			return value
		}
		out := make(map[string]any, len(value))
		for key, member := range value {
			_, known := atom.FindField(key)
			if !known && len(atom.Map.Fields) > 0 && atom.Map.ElementType == (smd.TypeRef{}) {
				continue
			}
			out[key] = declared(member, s, memberAtom(s, atom, key))
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = declared(value[i], s, elementAtom(s, atom))
		}
		return out
	}
	return value
}
