package dryrun

import (
	"maps"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/plan"
)

// rewriteNotes say who held what goes, or falls back, since the applier takes
// over the fields of other managers before it applies: a plain dry run calls
// those values unchanged.
func (o *observer) rewriteNotes(t *target, m moment, holders map[string]plan.Holder, s *diff.Schema) []string {
	if m.plain == nil {
		return nil
	}
	mask := o.maskOf(t, m)
	before, after := diff.Clean(mask(bare(m.plain, t)), t.served.status), diff.Clean(mask(bare(m.merged, t)), t.served.status)
	var notes []string
	for _, transition := range diff.Objects(before, after, t.content(m.treatment), s) {
		what := " changes"
		if transition.Action == diff.Remove {
			what = " goes"
		}
		by := "nobody"
		if holder, held := holderAt(holders, transition.Path); held {
			by = holder.Manager
		}
		notes = append(notes, transition.Path+what+": it is held by "+by+", whose fields "+m.treatment.Applier.Manager+" takes over first")
	}
	return notes
}

// holderAt is who wrote a field last, or the first field below it.
func holderAt(holders map[string]plan.Holder, path string) (plan.Holder, bool) {
	if holder, held := holders[path]; held {
		return holder, true
	}
	for _, at := range slices.Sorted(maps.Keys(holders)) {
		if rest, below := strings.CutPrefix(at, path); below && (rest[0] == '.' || rest[0] == '[') {
			return holders[at], true
		}
	}
	return plan.Holder{}, false
}
