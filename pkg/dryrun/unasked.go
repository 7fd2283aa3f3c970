package dryrun

import (
	"context"
	"slices"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// unasked says of what an update would change, though the manifest does not
// ask for it, where it comes from. A create of the same object tells admission
// from defaults; where that is refused, nothing tells them apart.
func (o *observer) unasked(ctx context.Context, t *target, m moment, assigned []plan.AdmissionValue, s *diff.Schema) []string {
	suspects := o.suspects(t, m, assigned, s)
	if len(suspects) == 0 {
		return nil
	}
	var added []plan.AdmissionValue
	var err error
	if m.posted, err = t.probe(withWarnings(ctx, &warnings{}), &m); err == nil {
		added, _, err = o.admission(t, m, s)
	}
	var notes []string
	for _, suspect := range suspects {
		switch found := overlapping(added, suspect.path); {
		case len(found) > 0:
			for _, path := range found {
				what := " is not in the manifest: set by admission"
				if _, stated := diff.At(t.content(m.treatment), path); stated {
					what = " is not as in the manifest: rewritten by admission"
				}
				notes = append(notes, path+what)
			}
		case suspect.stated:
		case err != nil:
			notes = append(notes, suspect.path+" is not in the manifest: set by admission, or a default")
		case !holds(o.maskOf(t, m)(m.posted.Object), suspect):
			notes = append(notes, suspect.path+" is not in the manifest: set by the server")
		}
	}
	return notes
}

// suspect is a field that gets another value than the manifest's, which may
// have one (stated).
type suspect struct {
	path   string
	value  any
	stated bool
}

// suspects are what an update sets that is not simply the manifest's value.
func (o *observer) suspects(t *target, m moment, assigned []plan.AdmissionValue, s *diff.Schema) []suspect {
	mask := o.maskOf(t, m)
	desired := mask(normalised(manifest.Object{Content: t.content(m.treatment)}))
	var out []suspect
	for _, transition := range diff.Objects(diff.Clean(mask(bare(m.live, t)), t.served.status), diff.Clean(mask(bare(m.merged, t)), t.served.status), desired, s) {
		isAssigned := slices.ContainsFunc(assigned, func(a plan.AdmissionValue) bool { return a.Path == transition.Path })
		if isAssigned || transition.Action != diff.Add && transition.Action != diff.Change {
			continue
		}
		value, stated := diff.At(desired, transition.Path)
		if !stated || !diff.Equal(value, transition.New) {
			out = append(out, suspect{path: transition.Path, value: transition.New, stated: stated})
		}
	}
	return out
}

// overlapping are the paths that admission sets at, below or above a path: the
// longer of both each.
func overlapping(added []plan.AdmissionValue, path string) []string {
	var out []string
	for _, a := range added {
		switch {
		case a.Mark != "":
		case inside(a.Path, path):
			out = append(out, a.Path)
		case inside(path, a.Path):
			out = append(out, path)
		}
	}
	return out
}

// holds says whether an object has the value at the path: then it is a default.
func holds(object map[string]any, suspect suspect) bool {
	value, there := diff.At(object, suspect.path)
	return there && diff.Equal(value, suspect.value)
}
