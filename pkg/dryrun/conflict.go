package dryrun

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// conflict is a field that the apply would change and another manager holds,
// in the server's words.
type conflict struct{ field, manager string }

// conflictsOf are the field conflicts of a refused apply, in the server's
// order; none if it was refused for something else.
func conflictsOf(err error) []conflict {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var conflicts []conflict
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			conflicts = append(conflicts, conflict{field: cause.Field, manager: managerOf(cause.Message)})
		}
	}
	return conflicts
}

// managerOf reads the manager's name from a text such as
//
//	conflict with "kubectl" with subresource "scale" using apps/v1
//
// and keeps the subresource, since that is another entry of the same name.
func managerOf(message string) string {
	quoted := strings.Split(message, `"`)
	if len(quoted) < 3 {
		return message
	}
	if len(quoted) > 4 && strings.Contains(quoted[2], "subresource") {
		return quoted[1] + " (subresource " + quoted[3] + ")"
	}
	return quoted[1]
}

// conflicts gives each conflict its path in the plan's form, and the value
// that the field would become, masked. What a Secret holds by its stringData
// is told as the data that it is.
func (o *observer) conflicts(t *target, m moment, found []conflict, s *diff.Schema) []plan.Conflict {
	desired := o.maskOf(t, m)(t.content(m.treatment))
	out := make([]plan.Conflict, 0, len(found))
	for _, c := range found {
		field := c.field
		if key, clear := strings.CutPrefix(field, ".stringData."); clear && manifest.IsSecret(t.object.Content) {
			field = ".data." + key
		}
		path, value := parsePath(field, desired)
		out = append(out, plan.Conflict{Path: formatPath(path, s), Manager: c.manager, New: value})
	}
	return out
}

// takeovers are the conflicts that force overrides.
func (o *observer) takeovers(t *target, m moment, s *diff.Schema) []plan.Takeover {
	var out []plan.Takeover
	for _, c := range o.conflicts(t, m, m.taken, s) {
		out = append(out, plan.Takeover{Manager: c.Manager, Path: c.Path})
	}
	return out
}

// conflictMessage names every conflict; it holds no values.
func conflictMessage(conflicts []plan.Conflict) string {
	parts := make([]string, len(conflicts))
	for i, c := range conflicts {
		parts[i] = c.Path + " is held by " + c.Manager
	}
	return strings.Join(parts, "; ")
}
