package gate

import (
	"slices"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// cover is what an approval of one plan may still let pass: what is left of it
// once a part is done.
type cover struct {
	approved, current *plan.Plan
	// allowed says that policy alone would allow a change of the current plan,
	// by its index.
	allowed func(i int) bool
	// gone says that an object that the approved plan deletes or replaces is no
	// longer there: its UID, not its name.
	gone func(plan.Body) (bool, error)
}

// frames says that both plans are alike but for their changes: made for the
// same cluster by the same rules, with the same prune and hooks, and what the
// server could not check now, it could not check when the plan was approved.
func frames(approved, current *plan.Plan) bool {
	a, c := approved.Header, current.Header
	return a.Schema == c.Schema && a.Rules == c.Rules && a.Cluster == c.Cluster && a.Prune == c.Prune &&
		slices.Equal(hooksOf(approved), hooksOf(current)) && subset(c.Unverified, a.Unverified)
}

// holds says that each change of the current plan is one that was approved, and
// that whatever else was approved is done.
func (c cover) holds() (bool, error) {
	before := byKey(c.approved.Changes)
	for i, now := range c.current.Changes {
		if ok, err := c.change(i, before[now.Body.Key()]); !ok || err != nil {
			return false, err
		}
	}
	now := byKey(c.current.Changes)
	unchanged := untouched(c.current)
	for _, was := range c.approved.Changes {
		if _, still := now[was.Body.Key()]; still || isHook(was) {
			continue
		}
		if ok, err := isDone(was, unchanged, c.gone); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// change says that a change of the current plan is covered: it was approved as
// it is; or it is a create that the server could not check then, and could now;
// or a create of what was to be replaced, whose old object is gone.
func (c cover) change(i int, was plan.Change) (bool, error) {
	now := c.current.Changes[i]
	if slices.Contains(c.approved.Header.Changes, now.Digest) {
		return true, nil
	}
	if now.Body.Operation != plan.Create {
		return false, nil
	}
	switch was.Body.Operation {
	case plan.Create:
		return was.Unverified != "" && now.Unverified == "" && sameDesired(was.Body, now) &&
			(nothingAdded(now.Body.Admission) || c.allowed(i)), nil
	case plan.Replace:
		created := was.Body
		created.Operation, created.LiveUID, created.Live = plan.Create, "", ""
		if digest, err := state.DigestOf(created); err != nil || digest != now.Digest {
			return false, err
		}
		return c.gone(was.Body)
	}
	return false, nil
}

// sameDesired says that a create which the server could not check then wants
// what it wants now. What it could not check has all that its manifest states.
func sameDesired(was plan.Body, now plan.Change) bool {
	stated := now.Body
	stated.Object = now.Stated
	return sameButAdmission(was, now.Body) || now.Stated != nil && sameButAdmission(was, stated)
}

func sameButAdmission(a, b plan.Body) bool {
	a.Admission, b.Admission = nil, nil
	x, err := state.DigestOf(a)
	y, err2 := state.DigestOf(b)
	return err == nil && err2 == nil && x == y
}

// nothingAdded says that admission adds no value that anyone could object to:
// what the server makes up for each object is none.
func nothingAdded(added []plan.AdmissionValue) bool {
	return !slices.ContainsFunc(added, func(a plan.AdmissionValue) bool { return a.Mark != plan.MarkAssigned })
}

// untouched are the objects of a plan that are as they should be. What an
// applier skips is not.
func untouched(p *plan.Plan) map[manifest.Key]bool {
	out := map[manifest.Key]bool{}
	for _, c := range p.Unchanged {
		if c.Skipped == "" {
			out[c.Body.Key()] = true
		}
	}
	return out
}

// isDone says that an approved change is done: its object is as it should be,
// or what it deletes is gone.
func isDone(was plan.Change, unchanged map[manifest.Key]bool, gone func(plan.Body) (bool, error)) (bool, error) {
	if was.Body.Operation == plan.Delete {
		return gone(was.Body)
	}
	return unchanged[was.Body.Key()], nil
}
