package audit

import (
	"slices"
	"time"

	"github.com/changeward/changeward/state"
)

// Filter narrows a report or a log; zero values match all.
type Filter struct {
	Since time.Time
	Scope string
}

func (f Filter) matches(scope string, when time.Time) bool {
	return (f.Scope == "" || f.Scope == scope) && !when.Before(f.Since)
}

// Report says who approved what, and what went around the gate.
type Report struct {
	Since   time.Time // as asked for
	Changes []Change  // all that a gate decided on, newest first
	// Unapproved were applied without an approval that holds.
	Unapproved []Change
	// Unenforced passed though policy did not allow them, since it was not
	// enforced.
	Unenforced []Change
	// Emergencies passed on an emergency approval that nobody has reviewed.
	Emergencies []Change
	Scopes      []Coverage
	// From is since when entries are here: those before are archived, or there
	// were none.
	From     time.Time
	Archived int // entries that are not here, but in bundles
}

// Change is one request and what became of it.
type Change struct {
	Plan
	Verdict       string // of the newest entry; "": none is there
	Reason        string // constant
	Auto          bool
	NotEnforced   bool
	PolicyVersion int
	Decided       time.Time  // of the newest entry
	Decisions     []Decision // all on this request, oldest first
	Approvals     []Decision // those that the newest entry counted, and that hold
	Doubts        []Finding  // why the verdict is not proven
	Result        string     // of the newest outcome
	Observed      bool
	Finished      time.Time
	Reviewed      bool // by another person, after an emergency
}

// Coverage is how far a scope was looked at.
type Coverage struct {
	Scope   string
	Changes int
	Passed  time.Time // the last plan that passed a gate
	// Seen is when the live objects were last compared with what was allowed,
	// and Result what was found; zero and "" if they never were.
	Seen   time.Time
	Result string
}

// NewReport is the report over all that matches a filter.
func NewReport(f Facts, filter Filter) Report {
	r := Report{Since: filter.Since}
	if len(f.Entries) > 0 {
		r.From = at(f.Entries[0].Time)
	}
	if c := f.checkpoint(); c != nil {
		for _, archived := range c.Archive.Ranges {
			r.Archived += archived.Last - archived.First + 1
		}
	}
	for _, p := range slices.Backward(f.Plans) {
		c := f.change(p)
		if !filter.matches(p.Header.Scope, latest(c.Decided, c.Finished, p.Created)) {
			continue
		}
		r.add(c)
	}
	return r
}

func (r *Report) add(c Change) {
	r.Changes = append(r.Changes, c)
	switch passed := c.Verdict == state.VerdictAllowed; {
	case c.applied() && (!passed || len(c.Doubts) > 0) && !c.NotEnforced:
		r.Unapproved = append(r.Unapproved, c)
	case c.NotEnforced && !passed:
		r.Unenforced = append(r.Unenforced, c)
	case passed && c.unreviewed():
		r.Emergencies = append(r.Emergencies, c)
	}
	r.cover(c)
}

// unreviewed says that a change was approved in an emergency, and that nobody
// else has looked at it since.
func (c Change) unreviewed() bool {
	emergency := slices.ContainsFunc(c.Approvals, func(d Decision) bool { return d.Emergency })
	return emergency && !c.Auto && !c.Reviewed
}

// applied says that some of it may have reached the cluster: there is no
// outcome of a plan of which nothing did.
func (c Change) applied() bool { return c.Result != "" }

// cover notes how far the scope of a change was looked at; changes come newest
// first.
func (r *Report) cover(c Change) {
	i := slices.IndexFunc(r.Scopes, func(s Coverage) bool { return s.Scope == c.Header.Scope })
	if i < 0 {
		i = len(r.Scopes)
		r.Scopes = append(r.Scopes, Coverage{Scope: c.Header.Scope})
	}
	s := &r.Scopes[i]
	s.Changes++
	if c.Verdict == state.VerdictAllowed || c.NotEnforced {
		s.Passed = latest(s.Passed, c.Decided)
	}
	if !(state.Outcome{Result: c.Result}).Unfinished() && c.Finished.After(s.Seen) {
		s.Seen, s.Result = c.Finished, c.Result
	}
}

// change gathers what the records say of one request.
func (f Facts) change(p Plan) Change {
	c := Change{Plan: p}
	for i := range f.Entries { // there are many, and they are large: none is copied to be looked at
		if e := &f.Entries[i]; e.Request != p.Number || e.Void != "" || e.PlanHash != p.Hash {
			continue
		}
		e := f.Entries[i]
		c.Verdict, c.Reason, c.Auto, c.NotEnforced, c.PolicyVersion = e.Verdict, e.Audit.Reason, e.Auto, e.NotEnforced, e.PolicyVersion
		c.Decided = at(e.Time)
		c.Approvals, c.Doubts = f.proof(e, p)
	}
	for i := range f.Decisions {
		if d := &f.Decisions[i]; d.Number == p.Number && (d.Hash == p.Hash || d.Void != "") {
			c.Decisions = append(c.Decisions, *d)
		}
	}
	for _, r := range f.Reviews {
		own := slices.ContainsFunc(c.Approvals, func(d Decision) bool { return d.Person.Username == r.Person.Username })
		if r.Void == "" && r.Number == p.Number && r.Hash == p.Hash && !own && r.Person.Username != p.Header.Proposer.Username {
			c.Reviewed = true
		}
	}
	for i := range f.Outcomes {
		if o := &f.Outcomes[i]; o.Number == p.Number && o.Void == "" && o.Hash == p.Hash {
			c.Result, c.Observed, c.Finished = o.Result, o.Observed, at(o.Time)
		}
	}
	return c
}

func latest(all ...time.Time) time.Time { return slices.MaxFunc(all, time.Time.Compare) }

// Log lists the entries that match, newest first. A checkpoint is of no scope.
func Log(f Facts, filter Filter) []Entry {
	var out []Entry
	for _, e := range slices.Backward(f.Entries) {
		if filter.matches(e.Scope, e.Created) {
			out = append(out, e)
		}
	}
	return out
}

// Counted says that the newest entry counted a decision.
func (c Change) Counted(d Decision) bool {
	return slices.ContainsFunc(c.Approvals, func(other Decision) bool { return other.Digest == d.Digest })
}
