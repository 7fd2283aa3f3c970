package dryrun

import (
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// immutable says what the manifest would change of fields that cannot be
// changed: the server names the field above them, and dumps all of it. Of
// environments only the path is told. "" means that nothing can be said.
func (o *observer) immutable(t *target, m moment, message string, s *diff.Schema) string {
	if m.live == nil || s == nil || manifest.IsSecret(t.object.Content) {
		return ""
	}
	kind := typed.ParseableType{Schema: s.Types, TypeRef: s.Root}
	live, err := kind.FromUnstructured(m.live.Object, typed.AllowDuplicates)
	if err != nil {
		return ""
	}
	desired, err := kind.FromUnstructured(normalised(t.sent(m)), typed.AllowDuplicates)
	if err != nil {
		return ""
	}
	merged, err := live.Merge(desired)
	if err != nil {
		return ""
	}
	wanted, _ := merged.AsValue().Unstructured().(map[string]any)
	mask := o.maskOf(t, m)
	var parts []string
	for _, transition := range diff.Objects(mask(m.live.Object), mask(wanted), nil, s) {
		switch {
		case !within(transition.Path, message):
		case strings.Contains(transition.Path, ".env["):
			parts = append(parts, transition.Path)
		default:
			parts = append(parts, strings.TrimSpace(plan.TransitionText(transition)))
		}
	}
	return strings.Join(parts, ", ")
}

// within says whether a path lies in one of the fields that a message names.
func within(path, message string) bool {
	for part := range strings.SplitSeq(message, "; ") {
		field, _, _ := strings.Cut(part, ": ")
		if inside(path, field) {
			return true
		}
	}
	return false
}
