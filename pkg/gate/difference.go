package gate

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// comparison says, object by object and field by field, in what the current
// plan is not the approved one, and what that comes from.
type comparison struct {
	approved, current *plan.Plan
	then, now         state.Plan // headers
	since             time.Time  // when the approved plan was made
	rendered          bool       // from the same inputs at the same revision
	version           int        // of the policy, then
	policyThen        *policy.Policy
	policy            *policy.Policy
	before            map[manifest.Key]map[string]any   // LIVE, then, of what was to change
	observed          map[manifest.Key]plan.Observation // of now
	out               []Stale
}

func (c *comparison) differences() []Stale {
	failed := map[manifest.Key]plan.Failed{}
	for _, f := range c.current.Failed {
		failed[f.Key] = f
	}
	now, unchanged := byKey(c.current.Changes), byKey(c.current.Unchanged)
	for _, was := range c.approved.Changes {
		key := was.Body.Key()
		f, broken := failed[key]
		is, changes := now[key]
		same, untouched := unchanged[key]
		switch {
		case broken:
			c.failure(f)
		case changes && is.Digest != was.Digest:
			c.changed(was, is)
		case changes:
		case untouched:
			c.untouched(was, same)
		default:
			c.left(was)
		}
	}
	before := byKey(c.approved.Changes)
	for _, is := range c.current.Changes {
		if _, known := before[is.Body.Key()]; !known {
			c.arrived(is)
		}
	}
	if h, a := c.current.Header, c.approved.Header; h.Prune != a.Prune || h.Rules != a.Rules {
		c.add(Stale{Cause: CauseSettings, Message: "prune or the rules of the hash differ"})
	} else if len(c.out) == 0 {
		c.add(Stale{Cause: CauseLive, Message: "what the server could check is not the same"})
	}
	return c.out
}

func byKey(changes []plan.Change) map[manifest.Key]plan.Change {
	out := map[manifest.Key]plan.Change{}
	for _, c := range changes {
		out[c.Body.Key()] = c
	}
	return out
}

func (c *comparison) add(s Stale) { c.out = append(c.out, s) }

// manifests blames what is desired. At the same revision that should not have
// changed: charts with random values render differently each time.
func (c *comparison) manifests(key manifest.Key, path, message string) {
	if c.rendered {
		c.add(Stale{Cause: CauseRenders, Object: key, Path: path, Message: message +
			": your manifests differ between two renders of revision " + c.now.Revision})
		return
	}
	c.add(Stale{Cause: CauseManifests, Object: key, Path: path, Message: message})
}

// server blames what the server sets where the manifest is silent.
func (c *comparison) server(key manifest.Key, path, message string) {
	if a, b := c.then.Server, c.now.Server; a != b && a != "" && b != "" {
		c.add(Stale{Cause: CauseServer, Object: key, Path: path, Message: fmt.Sprintf("%s: the server was %s, and is %s", message, a, b)})
		return
	}
	c.add(Stale{Cause: CauseAdmission, Object: key, Path: path, Message: message})
}

func (c *comparison) live(key manifest.Key, path, message string, by plan.Holder) {
	c.add(Stale{Cause: CauseLive, Object: key, Path: path, Message: message, Manager: by.Manager, Time: by.Time})
}

// ignored says that a path was left out by one policy, and is not by the other.
func (c *comparison) ignored(key manifest.Key, path string) bool {
	if c.policyThen == nil || plan.Ignores(c.policyThen.IgnorePaths, path) == plan.Ignores(c.policy.IgnorePaths, path) {
		return false
	}
	message := "is left out of plans now"
	if plan.Ignores(c.policyThen.IgnorePaths, path) {
		message = "is no longer left out of plans"
	}
	c.add(Stale{Cause: CausePolicy, Object: key, Path: path, Message: fmt.Sprintf("%s; it was approved under version %d of the policy", message, c.version)})
	return true
}

func (c *comparison) failure(f plan.Failed) {
	for _, conflict := range f.Conflicts {
		c.live(f.Key, conflict.Path, "is held by another manager now", plan.Holder{Manager: conflict.Manager, Time: f.Holders[conflict.Path].Time})
	}
	if len(f.Conflicts) > 0 {
		return
	}
	message := "cannot be planned now: " + f.Message
	switch f.Reason {
	case plan.ReasonAdmission, plan.ReasonRandom:
		c.server(f.Key, "", message)
	case plan.ReasonInvalid, plan.ReasonImmutable, plan.ReasonUnknownKind, plan.ReasonTooLarge:
		c.manifests(f.Key, "", message)
	default:
		c.live(f.Key, "", message, plan.Holder{})
	}
}

// states says whether the manifest of an object gives a path this value.
func (c *comparison) states(key manifest.Key, path string, value any) bool {
	o, known := c.observed[key]
	stated, there := diff.At(o.Object.Content, path)
	return known && there && alike(stated, value)
}

// alike compares values of which one may have been read from a record, and the
// spelling of quantities, which the server changes.
func alike(a, b any) bool {
	x, err := state.Canonical(a)
	y, err2 := state.Canonical(b)
	if err == nil && err2 == nil && bytes.Equal(x, y) {
		return true
	}
	p, err := resource.ParseQuantity(fmt.Sprint(a))
	q, err2 := resource.ParseQuantity(fmt.Sprint(b))
	return err == nil && err2 == nil && p.Cmp(q) == 0
}

// holderOf is who wrote a field last, or what is below it.
func holderOf(change plan.Change, path string) plan.Holder {
	if by, known := change.Holders[path]; known {
		return by
	}
	var last plan.Holder
	for at, by := range change.Holders {
		if covers(path, at) && by.Time.After(last.Time) {
			last = by
		}
	}
	return last
}

// covers says that a path is another, or above it.
func covers(above, path string) bool {
	a, _ := diff.ParsePath(above)
	b, _ := diff.ParsePath(path)
	return len(a) <= len(b) && slices.Equal(a, b[:len(a)])
}
