package dryrun

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// holders tells for each field of LIVE, by its path in the plan's form, who
// wrote it last. Entries that cannot be read say nothing: this is for display
// only.
func holders(live *unstructured.Unstructured, s *diff.Schema) map[string]plan.Holder {
	out := map[string]plan.Holder{}
	clear := manifest.IsSecret(live.Object) // managed fields keep stringData, the Secret does not
	for _, entry := range live.GetManagedFields() {
		set, err := FieldsOf(entry)
		if err != nil {
			continue
		}
		holder := holderOf(entry)
		set.Iterate(func(path fieldpath.Path) {
			if clear && len(path) > 1 && isClear(path) {
				path = append(fieldpath.Path{fieldpath.FieldNameElement("data")}, path[1:]...)
			}
			at := formatPath(path, s)
			if before, held := out[at]; !held || before.Time.Before(holder.Time) {
				out[at] = holder
			}
		})
	}
	return out
}

func holderOf(entry metav1.ManagedFieldsEntry) plan.Holder {
	holder := plan.Holder{Manager: entry.Manager, Time: time.Time{}}
	if entry.Subresource != "" {
		holder.Manager += " (subresource " + entry.Subresource + ")"
	}
	if entry.Time != nil {
		holder.Time = entry.Time.UTC()
	}
	return holder
}
