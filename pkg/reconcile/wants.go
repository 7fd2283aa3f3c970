package reconcile

import (
	"slices"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// Unreconciled are the requests, oldest first, of which changeward has written
// something to the cluster, in full or in part, and that no outcome says Git
// has. scope limits them, unless it is "".
func Unreconciled(requests []gate.Request, scope string) []gate.Request {
	var found []gate.Request
	for _, r := range requests {
		if r.Void == "" && (scope == "" || r.Header.Scope == scope) && Direct(r) && !reconciled(r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b gate.Request) int { return a.Number - b.Number })
	return found
}

// Direct says whether changeward itself has written anything of a request, or
// may have: an apply that was killed leaves no more than that it was started.
func Direct(r gate.Request) bool {
	return slices.ContainsFunc(r.Outcomes, func(o state.Outcome) bool { return !o.Observed && wrote(o.Result) })
}

func wrote(result string) bool {
	return slices.Contains([]string{state.ResultStarted, state.ResultApplied, state.ResultUnready, state.ResultWritten, state.ResultStopped}, result)
}

// reconciled says that an outcome, with nothing written since, says so of the
// request as a whole.
func reconciled(r gate.Request) bool {
	for _, o := range slices.Backward(r.Outcomes) {
		switch {
		case o.Result == state.ResultReconciled && len(o.Objects) == 0:
			return true
		case !o.Observed && wrote(o.Result):
			return false
		}
	}
	return false
}

// Wants is what Git should have of the changes of a plan: what they made of
// each object, as far as the cluster still has it. live is the object by now,
// nil where there is none; Secrets are not looked at. Reverted is what the
// cluster no longer has so.
func Wants(changes []plan.Change, live func(plan.Body) (map[string]any, error)) (wanted []Wanted, reverted []Edit, err error) {
	for _, c := range changes {
		if c.Body.Operation == plan.Hook || c.Body.Operation == plan.None {
			continue
		}
		key := c.Body.Key()
		w := Wanted{Key: key, Operation: c.Body.Operation}
		w.Object, _ = c.Body.Object.(map[string]any)
		for _, t := range c.Body.Transitions {
			w.Fields = append(w.Fields, Field{Path: t.Path, Action: t.Action, Value: t.New})
		}
		if !isSecret(key) {
			object, err := live(c.Body)
			if err != nil {
				return nil, nil, err
			}
			if (object == nil) != (c.Body.Operation == plan.Delete) {
				reverted = append(reverted, Edit{Key: key})
				continue
			}
			w.Fields, reverted = w.standing(object, reverted)
		}
		if w.Operation != plan.Update || len(w.Fields) > 0 {
			wanted = append(wanted, w)
		}
	}
	return wanted, reverted, nil
}

// standing are the fields that an object still has as wanted; the others are
// added to what was reverted.
func (w Wanted) standing(object map[string]any, reverted []Edit) ([]Field, []Edit) {
	owned := fieldsOf(object, dryrun.Manager)
	var fields []Field
	for _, f := range w.Fields {
		if f.holds(object) {
			fields = append(fields, f.own(owned))
			continue
		}
		reverted = append(reverted, Edit{Key: w.Key, Field: f.Path})
	}
	return fields, reverted
}
