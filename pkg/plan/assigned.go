package plan

import (
	"maps"
	"slices"

	"github.com/changeward/changeward/pkg/diff"
)

// Assigned is the mark that stands in a plan for a value that the server makes
// up for each object: what a dry run shows is not what it will be.
func Assigned() any { return map[string]any{"mark": MarkAssigned} }

// IsAssigned says whether a value is that mark.
func IsAssigned(value any) bool {
	members, ok := value.(map[string]any)
	return ok && len(members) == 1 && members["mark"] == MarkAssigned
}

// isMark says whether a value is one of the marks that stand for a value.
func isMark(value any) bool { return IsDiffers(value) || IsAssigned(value) }

// markAssigned puts the mark in place of each value that the server makes up,
// alone or within an entry that is added.
func markAssigned(transitions []diff.Transition, added []AdmissionValue) {
	for _, a := range added {
		at, ok := diff.ParsePath(a.Path)
		if a.Mark != MarkAssigned || !ok {
			continue
		}
		for i, t := range transitions {
			top, _ := diff.ParsePath(t.Path)
			if t.Action != diff.Remove && len(top) <= len(at) && slices.Equal(top, at[:len(top)]) {
				transitions[i].New = withMark(t.New, at[len(top):])
			}
		}
	}
}

// withMark copies what it changes.
func withMark(value any, at []diff.Step) any {
	if len(at) == 0 {
		return Assigned()
	}
	members, ok := value.(map[string]any)
	if _, has := members[at[0].Key]; !ok || !has {
		return value
	}
	out := maps.Clone(members)
	out[at[0].Key] = withMark(out[at[0].Key], at[1:])
	return out
}
