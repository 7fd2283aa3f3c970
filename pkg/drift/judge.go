package drift

import (
	"cmp"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/reconcile"
)

// Judge says how a change that was written at a time stands. git is what applies
// the object, nil where nobody does.
func Judge(body plan.Body, since time.Time, live plan.Sight, git *Applied) Change {
	c := Change{Key: body.Key(), Version: body.Version, Operation: body.Operation, Since: since}
	if git != nil {
		c.Owner, c.Revision = git.Owner, git.Revision
	}
	switch body.Operation {
	case plan.Delete:
		c.State, c.Why = c.deleted(body, live, git)
	case plan.Update:
		c.fields(body, live, git)
	default:
		c.State, c.Why = c.created(body, live, git)
	}
	return c
}

func (c *Change) deleted(body plan.Body, live plan.Sight, git *Applied) (State, string) {
	switch state, why := git.unproved(c.Since); {
	case len(plan.Differences(body, live)) > 0:
		return Unreconciled, "it is still being deleted"
	case live.Object != nil:
		return Reverted, "it was made anew"
	case state != "":
		return state, why
	case git.Objects[c.Key] != nil:
		return Unreconciled, "Git still defines it" + git.at()
	}
	return Reconciled, "Git no longer defines it" + git.at()
}

func (c *Change) created(body plan.Body, live plan.Sight, git *Applied) (State, string) {
	state, why := git.unproved(c.Since)
	switch {
	case live.Object == nil:
		return Reverted, "it is gone"
	case state != "":
		return state, why
	case git.Objects[c.Key] == nil:
		return Unreconciled, "Git does not define it" + git.at()
	}
	if path := differs(body, plan.Sight{Object: git.Objects[c.Key]}); path != "" {
		return Unreconciled, "Git defines it with another " + path + git.at()
	}
	if path := differs(body, live); path != "" {
		return Unreconciled, "Git defines it" + git.at() + ", and the cluster has another " + path
	}
	return Reconciled, "Git defines it" + git.at()
}

// differs is a field in which an object is not as a change made it; "" is none.
func differs(body plan.Body, object plan.Sight) string {
	for _, d := range plan.Differences(body, object) {
		if d.Path != "" {
			return d.Path
		}
	}
	return ""
}

// fields judges each field; the object stands as the worst of them.
func (c *Change) fields(body plan.Body, live plan.Sight, git *Applied) {
	gone := paths(plan.Differences(body, live))
	missing := gone
	if git != nil && git.Objects[c.Key] != nil {
		missing = paths(plan.Differences(reconcile.Owned(body, live.Object), plan.Sight{Object: git.Objects[c.Key]}))
	}
	for _, t := range body.Transitions {
		f := Field{Path: t.Path}
		f.State, f.Why = git.unproved(c.Since)
		switch {
		case live.Object == nil:
			f.State, f.Why = Reverted, "the object is gone"
		case gone[t.Path]:
			f.State, f.Why = Reverted, "the cluster no longer has it so"
		case f.State != "":
		case git.Objects[c.Key] == nil:
			f.State, f.Why = Unreconciled, "Git does not define the object"+git.at()
		case missing[t.Path]:
			f.State, f.Why = Unreconciled, "Git does not have it so"+git.at()
		default:
			f.State, f.Why = Reconciled, "Git has it"+git.at()
		}
		c.Fields = append(c.Fields, f)
	}
	if len(c.Fields) == 0 { // a takeover alone
		c.State, c.Why = Reconciled, "no value was changed"
		return
	}
	worst := slices.MinFunc(c.Fields, func(a, b Field) int { return cmp.Compare(rank(a.State), rank(b.State)) })
	c.State, c.Why = worst.State, worst.Why
}

func paths(differences []plan.Difference) map[string]bool {
	out := map[string]bool{}
	for _, d := range differences {
		out[d.Path] = true
	}
	return out
}

// unproved says why Git cannot be asked, or has not been applied since; "" where
// it can and has.
func (a *Applied) unproved(since time.Time) (State, string) {
	switch {
	case a == nil:
		return Unreconciled, "nobody owns it: name the directory of its manifests with --k8s-dir to see whether Git has it"
	case a.Unknown != "":
		return Unreconciled, "whether Git has it is not known: " + a.Unknown
	case a.Owner != "" && !a.Reconciled.After(since): // a folder is read now
		return Unreconciled, a.Owner + " has not reconciled since"
	}
	return "", ""
}

func (a *Applied) at() string {
	if a.Revision == "" {
		return ""
	}
	return " at " + a.Revision
}

// rank orders states, the worst first.
func rank(s State) int { return slices.Index([]State{Unreconciled, Reconciled, Reverted}, s) }

// Settled says that nothing of a change is left for Git, and that something of
// it is there.
func Settled(changes []Change) bool {
	some := false
	for _, c := range changes {
		if c.State == Unreconciled {
			return false
		}
		some = some || c.State == Reconciled
	}
	return some
}
