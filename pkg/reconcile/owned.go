package reconcile

import (
	"slices"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// fieldSet is what a manager set of an object, in the form of managedFields.
type fieldSet map[string]any

// fieldsOf is what a manager set of a live object; nil where that is not known.
func fieldsOf(object map[string]any, manager string) fieldSet {
	metadata, _ := object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		fields, _ := entry["fieldsV1"].(map[string]any)
		if entry["manager"] == manager && entry["operation"] == "Apply" && entry["subresource"] == nil {
			return fields
		}
	}
	return nil
}

// has says whether a path, or what holds it as a whole, was set.
func (s fieldSet) has(path string) bool {
	steps, ok := diff.ParsePath(path)
	for _, step := range steps {
		if len(s) == 0 {
			break // a list or map that is set as a whole
		}
		inner, set := s[fieldName(step)].(map[string]any)
		if !set {
			return false
		}
		s = inner
	}
	return ok
}

// fieldName is a step as managedFields have it.
func fieldName(step diff.Step) string {
	if step.Selector == "" {
		return "f:" + step.Key
	}
	keys, ok := keysOf(step.Selector)
	text, err := state.Canonical(keys)
	if !ok || err != nil {
		return "v:" + step.Selector[2:len(step.Selector)-1]
	}
	return "k:" + string(text)
}

// own leaves out of an added value what only defaults and admission put there.
func (f Field) own(set fieldSet) Field {
	if f.Action == diff.Add && set != nil && set.has(f.Path) {
		f.Value = owned(f.Value, f.Path, set)
	}
	return f
}

func owned(value any, path string, set fieldSet) any {
	members, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := map[string]any{}
	for key, member := range members {
		if child := manifest.Child(path, key); set.has(child) {
			out[key] = owned(member, child, set)
		}
	}
	return out
}

// Owned is the body of an update without what only defaults and admission added
// to the values that a manager of changeward set in a live object.
func Owned(body plan.Body, live map[string]any) plan.Body {
	set := fieldsOf(live, dryrun.Manager)
	body.Transitions = slices.Clone(body.Transitions)
	for i, t := range body.Transitions {
		body.Transitions[i].New = Field{Path: t.Path, Action: t.Action, Value: t.New}.own(set).Value
	}
	return body
}
