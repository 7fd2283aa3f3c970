package plan

import (
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/state"
)

// bounds are what policy says about what a plan binds.
type bounds struct {
	ignored [][]diff.Step // paths left out
	whole   bool          // bind LIVE as a whole, not only what changes
}

func boundsOf(in Input) bounds {
	b := bounds{whole: in.WholeObjects}
	for _, path := range in.IgnorePaths {
		if steps, ok := diff.ParsePath(path); ok {
			b.ignored = append(b.ignored, steps)
		}
	}
	return b
}

// ignores says that a path is one of those left out, or below one. [*] stands
// for any entry of a list. What holds an ignored path, such as a whole entry
// that is added, is not ignored.
func (b bounds) ignores(path string) bool {
	steps, _ := diff.ParsePath(path)
	return slices.ContainsFunc(b.ignored, func(ignored []diff.Step) bool {
		return len(ignored) <= len(steps) && slices.EqualFunc(ignored, steps[:len(ignored)], func(pattern, step diff.Step) bool {
			return pattern == step || pattern.Selector == "[*]" && step.Selector != ""
		})
	})
}

// Ignores says whether policy's paths leave out this one.
func Ignores(ignorePaths []string, path string) bool {
	return boundsOf(Input{IgnorePaths: ignorePaths}).ignores(path)
}

// transitions splits those that count from the paths that are left out.
func (b bounds) transitions(all []diff.Transition) (kept []diff.Transition, ignored []string) {
	for _, t := range all {
		if b.ignores(t.Path) {
			ignored = append(ignored, t.Path)
		} else {
			kept = append(kept, t)
		}
	}
	return kept, ignored
}

func (b bounds) admission(all []AdmissionValue) (kept []AdmissionValue, ignored []string) {
	for _, a := range all {
		if b.ignores(a.Path) {
			ignored = append(ignored, a.Path)
		} else {
			kept = append(kept, a)
		}
	}
	return kept, ignored
}

// digestOf is the digest of LIVE, without what is noise or left out; "" where
// policy does not ask for it.
func (b bounds) digestOf(live map[string]any, schema *diff.Schema) (string, error) {
	if !b.whole {
		return "", nil
	}
	values, _ := b.transitions(diff.Objects(map[string]any{}, live, nil, schema))
	return state.DigestOf(values)
}

func noteIgnored(paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	return []string{"left out, as policy says: " + strings.Join(paths, ", ")}
}
