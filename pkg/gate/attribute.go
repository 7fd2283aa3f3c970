package gate

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// untouched is a change that was approved, of an object that now stays as it
// is: someone was faster, or it is no longer asked for.
func (c *comparison) untouched(was, now plan.Change) {
	key := was.Body.Key()
	switch {
	case now.Skipped != "":
		c.add(Stale{Cause: CauseSettings, Object: key, Message: "is left alone now: " + now.Skipped})
	case was.Body.Operation == plan.Delete:
		c.manifests(key, "", "is in the manifests again")
	case was.Body.Operation != plan.Update:
		c.live(key, "", "is as it should be already", plan.Holder{})
	}
	if now.Skipped != "" {
		return
	}
	for _, t := range was.Body.Transitions {
		c.vanished(key, t)
	}
}

// vanished is a transition that was approved, and is not needed any more.
func (c *comparison) vanished(key manifest.Key, t diff.Transition) {
	o := c.observed[key]
	_, stated := diff.At(o.Object.Content, t.Path)
	switch {
	case c.ignored(key, t.Path):
	case t.Action == diff.Remove && !stated, c.states(key, t.Path, t.New):
		c.live(key, t.Path, "is as it should be already", plan.Holder{})
	case plan.IsDiffers(t.New):
		c.server(key, t.Path, "is no longer set by admission")
	case stated || t.Action == diff.Order:
		c.manifests(key, t.Path, "is no longer asked for")
	default:
		c.server(key, t.Path, "would not change any more")
	}
}

// left is a change that was approved, of an object that the plan knows nothing
// of now.
func (c *comparison) left(was plan.Change) {
	if was.Body.Operation == plan.Delete {
		c.live(was.Body.Key(), "", "is gone already, or no longer the owner's", plan.Holder{})
		return
	}
	c.manifests(was.Body.Key(), "", "is not in the manifests any more")
}

// arrived is a change of an object that was not to change.
func (c *comparison) arrived(is plan.Change) {
	key := is.Body.Key()
	switch is.Body.Operation {
	case plan.Update:
		for _, t := range is.Body.Transitions {
			c.appeared(is, t)
		}
	case plan.Delete:
		c.add(Stale{Cause: CauseManifests, Object: key, Message: "left the manifests"})
	case plan.Create:
		if c.rendered && !slices.ContainsFunc(c.out, func(s Stale) bool { return s.Cause == CauseRenders }) {
			c.live(key, "", "is no longer there", plan.Holder{})
			return
		}
		c.manifests(key, "", "was not in the approved plan")
	default:
		c.manifests(key, "", "was not in the approved plan")
	}
}

// appeared is a transition that was not approved. Either LIVE has moved away
// from what is desired, or something else is desired, by manifest or server.
func (c *comparison) appeared(is plan.Change, t diff.Transition) {
	key, by := is.Body.Key(), holderOf(is, t.Path)
	then, recorded := c.before[key]
	old, had := diff.At(then, t.Path)
	moved := recorded && (had != (t.Action != diff.Add) || had && !alike(old, t.Old)) ||
		!recorded && !by.Time.IsZero() && by.Time.After(c.since.Truncate(time.Second))
	switch {
	case c.ignored(key, t.Path):
	case plan.IsDiffers(t.New):
		c.server(key, t.Path, "is set to another value at each dry run")
	case moved:
		c.live(key, t.Path, "was changed in the cluster", by)
	case t.Action == diff.Remove, t.Action == diff.Order, c.states(key, t.Path, t.New):
		c.manifests(key, t.Path, "was not in the approved plan")
	default:
		c.server(key, t.Path, "is set by the server now")
	}
}

// changed is an object that both plans change, each in its way.
func (c *comparison) changed(was, is plan.Change) {
	a, b, known := was.Body, is.Body, len(c.out)
	switch {
	case a.Operation != b.Operation || a.LiveUID != b.LiveUID:
		c.live(b.Key(), "", fmt.Sprintf("was to be %s, is now to be %s: the object appeared, went or was made anew",
			past(a.Operation), past(b.Operation)), newest(is.Holders))
		return
	case a.Applier != b.Applier:
		c.add(Stale{Cause: CauseSettings, Object: b.Key(), Message: "the applier differs"})
	case !maps.Equal(a.Control, b.Control):
		c.manifests(b.Key(), "metadata.annotations", "annotations that steer the applier differ")
	}
	c.transitions(was, is)
	c.takenOver(a, is)
	for _, t := range diff.Objects(members(a.Object), members(b.Object), nil, nil) {
		c.manifests(b.Key(), t.Path, "another value is desired now")
	}
	c.admission(b.Key(), a.Admission, b.Admission)
	if len(c.out) == known {
		c.elsewhere(is)
	}
}

func members(object any) map[string]any {
	out, _ := object.(map[string]any)
	return out
}

func newest(holders map[string]plan.Holder) plan.Holder {
	var last plan.Holder
	for _, by := range holders {
		if by.Time.After(last.Time) {
			last = by
		}
	}
	return last
}

func past(op plan.Operation) string {
	switch op {
	case plan.Create, plan.Update, plan.Delete, plan.Replace:
		return string(op) + "d"
	}
	return string(op)
}

func (c *comparison) transitions(was, is plan.Change) {
	key, now := is.Body.Key(), map[string]diff.Transition{}
	for _, t := range is.Body.Transitions {
		now[t.Path] = t
	}
	for _, t := range was.Body.Transitions {
		next, still := now[t.Path]
		delete(now, t.Path)
		switch {
		case !still:
			c.vanished(key, t)
		case !diff.Equal(t.New, next.New) && (next.Action == diff.Remove || c.states(key, t.Path, next.New)):
			c.manifests(key, t.Path, "another value is desired now")
		case !diff.Equal(t.New, next.New):
			c.server(key, t.Path, "the server sets another value now")
		case t.Action != next.Action || !diff.Equal(t.Old, next.Old):
			c.live(key, t.Path, "was changed in the cluster", holderOf(is, t.Path))
		}
	}
	for _, t := range is.Body.Transitions {
		if _, new := now[t.Path]; new {
			c.appeared(is, t)
		}
	}
}

func (c *comparison) takenOver(a plan.Body, is plan.Change) {
	for _, taken := range is.Body.TakesOver {
		if !slices.Contains(a.TakesOver, taken) {
			by := holderOf(is, taken.Path)
			c.live(is.Body.Key(), taken.Path, "would be taken over from another manager now", plan.Holder{Manager: taken.Manager, Time: by.Time})
		}
	}
	for _, taken := range a.TakesOver {
		if !slices.Contains(is.Body.TakesOver, taken) {
			c.live(is.Body.Key(), taken.Path, "is no longer held by "+taken.Manager, plan.Holder{})
		}
	}
}

// admission compares what is added to a new object.
func (c *comparison) admission(key manifest.Key, then, now []plan.AdmissionValue) {
	was := map[string]plan.AdmissionValue{}
	for _, a := range then {
		was[a.Path] = a
	}
	for _, a := range now {
		before, known := was[a.Path]
		delete(was, a.Path)
		if known && before.Mark == a.Mark && diff.Equal(before.Value, a.Value) {
			continue
		}
		if !c.ignored(key, a.Path) {
			c.server(key, a.Path, "the server sets another value now")
		}
	}
	for _, path := range slices.Sorted(maps.Keys(was)) {
		if !c.ignored(key, path) {
			c.server(key, path, "the server does not set it any more")
		}
	}
}

// elsewhere is an object that changes as approved, but was bound as a whole.
func (c *comparison) elsewhere(is plan.Change) {
	key := is.Body.Key()
	o, then := c.observed[key], c.before[key]
	found := len(c.out)
	for _, t := range diff.Objects(then, diff.Clean(o.Live, o.StatusSubresource), nil, o.Schema) {
		if !alike(t.Old, t.New) {
			c.live(key, t.Path, "was changed in the cluster, and policy binds whole objects", holderOf(is, t.Path))
		}
	}
	if len(c.out) == found {
		c.live(key, "", "is not the object that it was", newest(is.Holders))
	}
}
