package gate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
)

// Causes why an approved plan is not the current one. They are API: in JSON
// output, and never renamed.
const (
	CauseManifests = "manifests" // what is desired has changed
	CauseRenders   = "renders"   // it has, though the revision is the same
	CauseLive      = "live"      // someone changed the cluster
	CauseAdmission = "admission" // the server adds something else
	CauseServer    = "server"    // it does, and is of another version
	CausePolicy    = "policy"    // policy asks for something else
	CauseSettings  = "settings"  // applier, force, prune or hash rules
)

// Stale is one way in which a plan differs from an approved one of its scope.
type Stale struct {
	Cause   string       // a Cause constant
	Object  manifest.Key // zero: the plan as a whole
	Path    string
	Manager string    // who holds the field now, for CauseLive
	Time    time.Time // when that manager wrote last; zero: not known
	Message string
}

// explainStale says what has changed since a plan of this scope was approved:
// why that approval does not let the plan at hand pass.
func (r *run) explainStale(ctx context.Context) error {
	for _, earlier := range slices.Backward(r.ledger.requests) {
		if earlier.Header.Scope != r.in.Header.Scope || earlier.Void != "" || !pending(earlier.Status) {
			continue
		}
		approved, _, before, err := r.Stored(ctx, earlier)
		if err != nil {
			return err
		}
		version, held := r.ledger.heldUnder(&earlier, approved)
		if !held {
			continue
		}
		if r.result.Stale = r.why(&earlier, approved, before, version); len(r.result.Stale) > 0 {
			r.result.StaleRequest = &earlier
			return nil
		}
	}
	return nil
}

// pending says that nothing but approvals is missing, if anything is.
func pending(s Status) bool {
	return slices.Contains([]Status{Approved, AwaitingApproval, Superseded}, s)
}

// heldUnder says whether a request was approved under the policy of the time
// when it was approved last, and which version that was.
func (l *Ledger) heldUnder(r *Request, stored *plan.Plan) (version int, held bool) {
	var last time.Time
	for _, d := range r.decisions {
		if approves(d) && d.Record.Created.After(last) {
			last = d.Record.Created
		}
	}
	version = l.versionAt(last)
	if r.Status == Approved {
		return version, true
	}
	if version == 0 || version == len(l.policies) {
		return version, false
	}
	then := *l
	var err error
	if then.policy, err = policy.Parse([]byte(l.policies[version-1].Predicate.Source)); err != nil {
		return version, false
	}
	return version, then.count(r, then.policy.Judge(then.input(stored, r.Header, "")).Requirements).Approved
}

// versionAt is the policy version in force at a time; 0 before the first.
func (l *Ledger) versionAt(at time.Time) int {
	for i, v := range slices.Backward(l.policies) {
		if !v.Record.Created.After(at) {
			return i + 1
		}
	}
	return 0
}

// why lists in what an approved plan is not the current one, or why its
// approvals do not suffice any more.
func (r *run) why(earlier *Request, approved *plan.Plan, before []byte, version int) []Stale {
	var out []Stale
	if earlier.Status != Approved {
		out = append(out, Stale{Cause: CausePolicy, Message: fmt.Sprintf(
			"version %d of the policy, under which it was approved, asked for less than version %d", version, len(r.ledger.policies))})
	} else if r.ledger.policy.SameRevision && earlier.Header.Revision != r.in.Header.Revision {
		out = append(out, Stale{Cause: CausePolicy, Message: fmt.Sprintf(
			"an approval holds for one revision only: that one is for %s, this is %s", named(earlier.Header.Revision), named(r.in.Header.Revision))})
	}
	if earlier.Hash != r.in.Plan.Hash {
		out = append(out, r.compare(earlier, approved, before, version).differences()...)
	}
	return out
}

func named(revision string) string {
	if revision == "" {
		return "an unknown one"
	}
	return revision
}

// compare gathers what is known of both plans.
func (r *run) compare(earlier *Request, approved *plan.Plan, before []byte, version int) *comparison {
	now := r.in.Header
	c := &comparison{approved: approved, current: r.in.Plan, then: earlier.Header, now: now, since: earlier.Created,
		version: version, policy: r.ledger.policy,
		rendered: now.Revision != "" && now.Revision == earlier.Header.Revision && slices.Equal(now.Sources, earlier.Header.Sources),
		before:   map[manifest.Key]map[string]any{}, observed: map[manifest.Key]plan.Observation{}}
	if version > 0 {
		if p, err := policy.Parse([]byte(r.ledger.policies[version-1].Predicate.Source)); err == nil {
			c.policyThen = p
		}
	}
	if priors, err := plan.Priors(before); err == nil { // it is for this explanation only
		c.before = priors
	}
	for _, o := range r.in.Observations {
		c.observed[o.Object.Key()] = o
	}
	return c
}
