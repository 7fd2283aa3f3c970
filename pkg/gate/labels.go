package gate

import (
	"slices"

	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/state"
)

// mislabelled names records that a look-up by scope or plan does not find, since
// their labels are others than what they say calls for.
func mislabelled(all records, f audit.Facts) []audit.Finding {
	type labels struct{ plan, scope string }
	wanted := map[string]labels{}
	scopes := map[int]string{}
	for _, p := range f.Plans {
		if p.Void == "" {
			scopes[p.Number] = p.Header.Scope
			wanted[p.Name] = labels{state.PlanLabel(p.Hash), state.ScopeLabel(p.Header.Scope)}
		}
	}
	for _, e := range f.Entries {
		if e.Void == "" && e.Archive == nil {
			wanted[e.Name] = labels{"", state.ScopeLabel(e.Scope)}
		}
	}
	for _, d := range f.Decisions {
		if scope, known := scopes[d.Number]; known && d.Void == "" {
			wanted[d.Name] = labels{state.PlanLabel(d.Hash), state.ScopeLabel(scope)}
		}
	}
	for _, o := range f.Outcomes {
		if scope, known := scopes[o.Number]; known && o.Void == "" {
			wanted[o.Name] = labels{state.PlanLabel(o.Hash), state.ScopeLabel(scope)}
		}
	}
	var out []audit.Finding
	for _, t := range slices.Concat(numberedTypes(), []state.Type{state.TypeDecision}) {
		for _, r := range all[t] {
			if want, known := wanted[r.Name]; known && (r.Plan != want.plan || r.Scope != want.scope) {
				out = append(out, audit.Finding{Reason: audit.LabelMismatch, Record: r.Name,
					Message: "a gate that looks for its scope or plan does not find it: its labels say something else"})
			}
		}
	}
	return out
}
