package dryrun

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// sharedPaths is how many fields a note of shared ones names.
const sharedPaths = 3

// shared tells which fields a server-side applier comes to hold together with
// other managers, one note a manager: their values are equal, so that nothing
// changes now, but neither can change them alone any more.
func shared(m moment, s *diff.Schema) []string {
	if m.treatment.Applier.Mode != plan.ModeServerSide {
		return nil
	}
	ours := m.treatment.Applier.Manager
	gained := heldBy(m.merged, ours).Difference(heldBy(m.live, ours))
	var notes []string
	for _, entry := range m.merged.GetManagedFields() {
		set, err := FieldsOf(entry)
		if err != nil || isApply(entry, ours) || entry.Subresource == "status" {
			continue
		}
		if manifest.IsSecret(m.merged.Object) {
			set = data(set)
		}
		var paths []string
		set.Intersection(gained).Leaves().Difference(lastAppliedField()).Iterate(func(path fieldpath.Path) { paths = append(paths, formatPath(path, s)) })
		if len(paths) == 0 {
			continue
		}
		slices.Sort(paths)
		more := ""
		if n := len(paths) - sharedPaths; n > 0 {
			paths, more = paths[:sharedPaths], fmt.Sprintf(" and %d more", n)
		}
		notes = append(notes, "from now on held together with "+holderOf(entry).Manager+", which has the same values: "+strings.Join(paths, ", ")+more)
	}
	slices.Sort(notes)
	return notes
}

// heldBy is what a manager holds by apply; what cannot be read says nothing.
func heldBy(object *unstructured.Unstructured, manager string) *fieldpath.Set {
	held := fieldpath.NewSet()
	for _, entry := range object.GetManagedFields() {
		if set, err := FieldsOf(entry); err == nil && isApply(entry, manager) {
			held = held.Union(set)
		}
	}
	if manifest.IsSecret(object.Object) {
		held = data(held)
	}
	return held
}

func isApply(entry metav1.ManagedFieldsEntry, manager string) bool {
	return entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == ""
}
