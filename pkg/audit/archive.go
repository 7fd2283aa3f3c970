package audit

import (
	"slices"
	"strings"
	"time"

	"github.com/changeward/changeward/state"
)

// Archivable chooses the entries that may be archived: those of requests that
// are settled and older than before. What later decisions still rest on stays:
// what waits for approval or is approved and not used up, all of its scope since
// then, and of each scope the newest allowed plan, back to the newest that
// people approved if it runs hooks. pending are the numbers of requests that are
// not settled, invalid ones among them.
func Archivable(f Facts, before time.Time, pending map[int]bool) []Entry {
	scopes := map[string]*holding{}
	for _, p := range f.Plans {
		h := scopes[p.Header.Scope]
		if h == nil {
			h = &holding{}
			scopes[p.Header.Scope] = h
		}
		h.plans = append(h.plans, f.change(p))
	}
	numbers := map[int]bool{}
	for _, h := range scopes {
		h.keep(pending, before)
		for _, c := range h.plans {
			numbers[c.Number] = !c.touched().After(h.oldest) && c.Void == "" && c.Verdict != ""
		}
	}
	newest := f.checkpoint()
	return slices.DeleteFunc(slices.Clone(f.Entries), func(e Entry) bool {
		if e.Archive != nil && e.Void == "" { // replaced by the one that is about to be written
			return newest == nil || e.Number > newest.Number || !e.Created.Before(before)
		}
		return e.Void != "" || !numbers[e.Request] || !e.Created.Before(before)
	})
}

// holding is what one scope holds on to.
type holding struct {
	plans  []Change  // by number
	oldest time.Time // nothing touched later is archived
}

// keep finds since when everything of the scope is kept.
func (h *holding) keep(pending map[int]bool, before time.Time) {
	h.oldest = before
	hold := func(c Change) {
		if c.Created.Before(h.oldest) {
			h.oldest = c.Created.Add(-time.Second)
		}
	}
	allowed := false
	for _, c := range slices.Backward(h.plans) {
		passed := c.Verdict == state.VerdictAllowed && !c.NotEnforced
		switch {
		case pending[c.Number], c.unreviewed(), c.touched().After(before):
			hold(c)
		case passed && !allowed:
			hold(c)
			allowed = !c.Hooks || !c.Auto
		}
	}
}

// touched is when the newest record about a change was written.
func (c Change) touched() time.Time {
	last := latest(c.Created, c.Decided, c.Finished)
	for _, d := range c.Decisions {
		last = latest(last, d.Created)
	}
	return last
}

// NewArchive is what the next checkpoint says: which entries are archived by
// now, these and those of checkpoints before.
func NewArchive(f Facts, entries []Entry, bundle string) state.Archive {
	a := state.Archive{Bundle: bundle}
	for _, p := range f.Plans {
		if p.Void == "" {
			a.Plan = max(a.Plan, p.Number)
		}
	}
	var ranges []state.Range
	if c := f.checkpoint(); c != nil {
		a.Plan, ranges = max(a.Plan, c.Archive.Plan), slices.Clone(c.Archive.Ranges)
	}
	before := ranges
	for _, e := range entries {
		if inRanges(before, e.Number) { // left of an archive that was stopped
			continue
		}
		ranges = append(ranges, state.Range{First: e.Number, Last: e.Number, Head: e.Digest})
	}
	slices.SortFunc(ranges, func(a, b state.Range) int { return a.First - b.First })
	for _, r := range ranges {
		if n := len(a.Ranges); n > 0 && r.First == a.Ranges[n-1].Last+1 {
			a.Ranges[n-1].Last, a.Ranges[n-1].Head = r.Last, r.Head
			continue
		}
		a.Ranges = append(a.Ranges, r)
	}
	return a
}

// Archived lists the records of a bundle that a checkpoint archives: entries in
// its ranges, and all about their requests, unless an entry outside is about
// one, too. Keys, policies, rosters and epochs are never among them.
func Archived(b Bundle, f Facts, archive state.Archive) []state.Record {
	gone, kept := map[int]bool{}, map[int]bool{}
	names := map[string]bool{}
	for _, e := range f.Entries {
		in := inRanges(archive.Ranges, e.Number)
		if names[e.Name] = in; in {
			gone[e.Request] = true
		} else {
			kept[e.Request] = true
		}
	}
	leaves := func(number int) bool { return number > 0 && gone[number] && !kept[number] }
	chunks := map[string]bool{}
	for _, p := range f.Plans {
		names[p.Name] = leaves(p.Number)
		for _, name := range p.Chunks {
			left, shared := chunks[name]
			chunks[name] = leaves(p.Number) && (left || !shared)
		}
	}
	for _, d := range f.Decisions {
		names[d.Name] = leaves(d.Number)
	}
	for _, o := range f.Outcomes {
		names[o.Name] = leaves(o.Number)
	}
	for _, r := range f.Reviews {
		names[r.Name] = leaves(r.Number)
	}
	return slices.DeleteFunc(slices.Clone(b.Records), func(r state.Record) bool {
		return !names[r.Name] && !chunks[r.Name] || !strings.HasPrefix(r.Name, "cw-"+string(r.Type)+"-")
	})
}
