package gate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/changeward/changeward/state"
)

// extent says how much of the records a ledger holds; the zero value is all.
// Labels are only an index: they decide where to look, and the signed bytes
// what counts. Who labels an own record wrongly hides that from the gate, which
// is no more than not to have written it.
type extent struct {
	rules       bool // policy, keys and epochs alone
	scope, hash string
	reviews     bool // with what people said later of approvals in an emergency
}

func (e extent) whole() bool { return e == extent{} }

// LoadRules is Load without any change request: policy, keys and epochs.
func (g *Gate) LoadRules(ctx context.Context) (*Ledger, error) {
	return g.load(ctx, extent{rules: true})
}

// LoadFor is Load of what one plan of a scope needs: the requests of this scope
// and of this hash, and the end of the audit chain. What it costs grows with
// the scope; of all others only names are read.
func (g *Gate) LoadFor(ctx context.Context, scope, hash string) (*Ledger, error) {
	return g.load(ctx, extent{scope: scope, hash: hash})
}

// types are all that decisions rest on, and what people said about them later.
func types() []state.Type {
	return slices.Concat(trustTypes(), numberedTypes(), []state.Type{state.TypeReview, state.TypeIncident})
}

func trustTypes() []state.Type {
	return []state.Type{state.TypeDecision, state.TypeKey, state.TypePolicy, state.TypeRoster, state.TypeEpoch}
}

// numberedTypes are written by gates, and grow.
func numberedTypes() []state.Type {
	return []state.Type{state.TypePlan, state.TypeOutcome, state.TypeAudit}
}

// gather reads what a ledger of this extent is made from, and of all that gates
// have written the names and labels.
func (g *Gate) gather(ctx context.Context, want extent) (all, index records, err error) {
	switch {
	case want.rules:
		all, err = g.read(ctx, trustTypes())
		return all, nil, err
	case want.scope == "": // no label says so
		all, err = g.read(ctx, types())
		return all, all, err
	}
	// Names first: what is written after them is seen in what follows, or takes
	// the name that this gate then asks for. The other way round, it would be in
	// the names alone, and the same plan would get the next number.
	if index, err = g.index(ctx); err != nil {
		return nil, nil, err
	}
	trusted := trustTypes()
	if want.reviews {
		trusted = append(trusted, state.TypeReview)
	}
	var scoped, alike records
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() (err error) { all, err = g.read(inner, trusted); return })
	group.Go(func() (err error) {
		scoped, err = g.labelled(inner, state.Selector{Scope: state.ScopeLabel(want.scope)})
		return
	})
	group.Go(func() (err error) { alike, err = g.alike(inner, want.hash); return })
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	all.add(scoped)
	all.add(alike)
	return all, index, nil
}

// alike are the records of all scopes in which this plan was put forward.
func (g *Gate) alike(ctx context.Context, hash string) (records, error) {
	all := records{}
	if hash == "" {
		return all, nil
	}
	plans, err := g.Store.List(ctx, state.TypePlan, state.Selector{Plan: state.PlanLabel(hash)})
	seen := map[string]bool{}
	for _, p := range plans {
		if seen[p.Scope] {
			continue
		}
		seen[p.Scope] = true
		scoped, err := g.labelled(ctx, state.Selector{Scope: p.Scope})
		if err != nil {
			return nil, err
		}
		all.add(scoped)
	}
	return all, err
}

// labelled are the plans, outcomes and entries that a selector selects.
func (g *Gate) labelled(ctx context.Context, selector state.Selector) (records, error) {
	return g.each(ctx, numberedTypes(), func(ctx context.Context, t state.Type) ([]state.Record, error) {
		return g.Store.List(ctx, t, selector)
	})
}

func (g *Gate) index(ctx context.Context) (records, error) {
	return g.each(ctx, numberedTypes(), func(ctx context.Context, t state.Type) ([]state.Record, error) {
		return g.Store.Index(ctx, t, state.Selector{})
	})
}

// add takes over records that are not there yet, in the order of their names.
func (r records) add(more records) {
	for t, list := range more {
		all := slices.Concat(r[t], list)
		slices.SortFunc(all, func(a, b state.Record) int { return strings.Compare(a.Name, b.Name) })
		r[t] = slices.CompactFunc(all, func(a, b state.Record) bool { return a.Name == b.Name })
	}
}

// maxSearch is how many entries are looked at one by one for the end of the
// chain, before all are read: only junk makes it so many.
const maxSearch = 20

// loadEntries takes the audit entries, and, where only those of a scope were
// read, the checkpoints, which are of none, and the newest entry that holds.
func (g *Gate) loadEntries(ctx context.Context, l *Ledger, list, index []state.Record) error {
	l.loadAudit(list)
	if l.extent.rules || l.extent.scope == "" {
		return nil
	}
	names := l.ends(index)
	read := map[string]bool{}
	for _, r := range list {
		read[r.Name] = true
	}
	for searched := 0; ; searched++ {
		name := names(func(name string) bool { return read[name] })
		if name == "" {
			slices.SortFunc(l.audit, func(a, b entry) int { return a.Number - b.Number })
			return nil
		}
		if searched == maxSearch {
			return g.allEntries(ctx, l)
		}
		read[name] = true
		record, err := g.Store.Get(ctx, state.TypeAudit, name)
		switch {
		case err == nil:
			l.loadAudit([]state.Record{record})
		case !errors.Is(err, state.ErrNotFound): // else it was archived since
			return err
		}
	}
}

// ends gives the entries to be looked at beside those of a scope, one by one:
// checkpoints, then those at the end of the chain until one holds.
func (l *Ledger) ends(index []state.Record) func(read func(string) bool) string {
	var names []string
	for _, r := range index {
		if r.Scope == "" {
			names = append(names, r.Name)
		}
	}
	numbers := l.numbers(state.TypeAudit)
	slices.Sort(numbers)
	end := last(numbers)
	return func(read func(string) bool) string {
		for _, name := range names {
			if !read(name) {
				return name
			}
		}
		for _, n := range slices.Backward(numbers) {
			name := state.NumberedName(state.TypeAudit, n)
			switch {
			case n > end:
			case !read(name):
				return name
			case slices.ContainsFunc(l.audit, func(e entry) bool { return e.Number == n }):
				return ""
			}
		}
		return ""
	}
}

func (g *Gate) allEntries(ctx context.Context, l *Ledger) error {
	all, err := g.Store.List(ctx, state.TypeAudit, state.Selector{})
	if err == nil {
		l.audit = nil
		l.loadAudit(all)
	}
	return err
}

// relevantTo leaves out decisions on requests that the ledger does not hold.
func (l *Ledger) relevantTo(list []state.Record) []state.Record {
	if l.extent.whole() {
		return list
	}
	plans := map[string]bool{}
	for _, r := range l.requests {
		plans[r.record.Plan] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(r state.Record) bool { return r.Plan != "" && !plans[r.Plan] })
}
