package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Causes why an approved plan is not the current one.
const (
	CauseManifests = "manifests" // what is desired has changed
	CauseLive      = "live"      // someone changed the cluster
	CauseAdmission = "admission" // the server adds something else
	CauseSettings  = "settings"  // applier, force, prune or hash rules
)

// Stale is one way in which a plan differs from an approved one of its scope.
type Stale struct {
	Cause   string // a Cause constant
	Object  manifest.Key
	Path    string
	Manager string    // who holds the field now, for CauseLive
	Time    time.Time // when that manager wrote last; zero: not known
	Message string
}

// explainStale says what has changed since a plan of this scope was approved:
// that approval does not cover the plan at hand.
func (r *run) explainStale(ctx context.Context) error {
	for i := len(r.ledger.requests) - 1; i >= 0; i-- {
		earlier := r.ledger.requests[i]
		if earlier.Status != Approved || earlier.Header.Scope != r.in.Header.Scope || earlier.Hash == r.in.Plan.Hash {
			continue
		}
		approved, _, _, err := r.Stored(ctx, earlier)
		if err != nil {
			return err
		}
		r.result.StaleRequest, r.result.Stale = &earlier, differences(approved, r.in.Plan)
		return nil
	}
	return nil
}

// differences lists, object by object, how the current plan is not the
// approved one.
func differences(approved, current *plan.Plan) []Stale {
	var out []Stale
	now := byKey(current.Changes)
	failed := map[manifest.Key]plan.Failed{}
	for _, f := range current.Failed {
		failed[f.Key] = f
	}
	before := byKey(approved.Changes)
	for _, c := range approved.Changes {
		key := c.Body.Key()
		switch f, broken := failed[key]; {
		case broken:
			out = append(out, fromFailure(f)...)
		case now[key].Digest == "":
			out = append(out, Stale{Cause: CauseLive, Object: key, Message: "would not change any more"})
		case now[key].Digest != c.Digest:
			out = append(out, fromChange(c, now[key])...)
		}
	}
	for _, c := range current.Changes {
		if before[c.Body.Key()].Digest == "" {
			out = append(out, Stale{Cause: CauseManifests, Object: c.Body.Key(), Message: fmt.Sprintf("%s was not in the approved plan", c.Body.Operation)})
		}
	}
	if h, a := current.Header, approved.Header; h.Prune != a.Prune || h.Rules != a.Rules {
		out = append(out, Stale{Cause: CauseSettings, Message: "prune or the rules of the hash differ"})
	}
	return out
}

func byKey(changes []plan.Change) map[manifest.Key]plan.Change {
	out := map[manifest.Key]plan.Change{}
	for _, c := range changes {
		out[c.Body.Key()] = c
	}
	return out
}

func fromFailure(f plan.Failed) []Stale {
	if len(f.Conflicts) == 0 {
		return []Stale{{Cause: CauseLive, Object: f.Key, Message: "cannot be planned now: " + f.Message}}
	}
	var out []Stale
	for _, c := range f.Conflicts {
		out = append(out, Stale{Cause: CauseLive, Object: f.Key, Path: c.Path, Manager: c.Manager,
			Time: f.Holders[c.Path].Time, Message: "is held by another manager now"})
	}
	return out
}

func fromChange(approved, current plan.Change) []Stale {
	a, c := approved.Body, current.Body
	switch {
	case a.Operation != c.Operation || a.LiveUID != c.LiveUID:
		return []Stale{{Cause: CauseLive, Object: c.Key(), Message: fmt.Sprintf("was to be %s, is now to be %s: the object appeared, went or was made anew", past(a.Operation), past(c.Operation))}}
	case a.Applier != c.Applier:
		return []Stale{{Cause: CauseSettings, Object: c.Key(), Message: "the applier differs"}}
	case a.Operation == plan.Update:
		return fromTransitions(approved, current)
	case diff.Equal(a.Object, c.Object):
		return []Stale{{Cause: CauseAdmission, Object: c.Key(), Message: "the server adds something else now"}}
	}
	return []Stale{{Cause: CauseManifests, Object: c.Key(), Message: "another object is desired now"}}
}

func past(op plan.Operation) string {
	switch op {
	case plan.Create, plan.Update, plan.Delete, plan.Replace:
		return string(op) + "d"
	}
	return string(op)
}

func fromTransitions(approved, current plan.Change) []Stale {
	var out []Stale
	now := map[string]diff.Transition{}
	for _, t := range current.Body.Transitions {
		now[t.Path] = t
	}
	for _, t := range approved.Body.Transitions {
		next, still := now[t.Path]
		delete(now, t.Path)
		s := Stale{Cause: CauseLive, Object: current.Body.Key(), Path: t.Path}
		switch {
		case !still:
			s.Message = "would not change any more"
		case !diff.Equal(t.New, next.New):
			s.Cause, s.Message = CauseManifests, "another value is desired now"
		case t.Action != next.Action || !diff.Equal(t.Old, next.Old):
			s.Message = "was changed in the cluster"
			if h, known := current.Holders[t.Path]; known {
				s.Manager, s.Time = h.Manager, h.Time
			}
		default:
			continue
		}
		out = append(out, s)
	}
	for _, t := range current.Body.Transitions {
		if _, new := now[t.Path]; new {
			out = append(out, Stale{Cause: CauseManifests, Object: current.Body.Key(), Path: t.Path, Message: "was not in the approved plan"})
		}
	}
	return out
}
