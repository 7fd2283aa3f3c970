package gate

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/changeward/changeward/state"
)

// lookBack is how many of the newest plans are looked at one by one for the
// request that an id names: no label tells.
const lookBack = 32

// LoadAbout is Load of what one change request needs, named as for Find: of
// others only names are read. Where it is neither named by number, nor by a
// whole id among the newest, it reads everything.
func (g *Gate) LoadAbout(ctx context.Context, ref string) (*Ledger, error) {
	found, err := g.named(ctx, ref)
	if err != nil || found == nil || found.Header.Scope == "" {
		return g.loadOr(ctx, err)
	}
	l, err := g.load(ctx, extent{scope: found.Header.Scope, hash: found.Hash, reviews: true})
	if err != nil {
		return nil, err
	}
	if same, err := l.Find(ref); err != nil || same.ID != found.ID { // its labels lie
		return g.Load(ctx)
	}
	return l, nil
}

// loadOr is Load, unless the records cannot be read anyway.
func (g *Gate) loadOr(ctx context.Context, err error) (*Ledger, error) {
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		return nil, err
	}
	return g.Load(ctx)
}

// named is the request that a number or a whole id names, by its own word; nil
// where it is not found.
func (g *Gate) named(ctx context.Context, ref string) (*Request, error) {
	if number, err := strconv.Atoi(strings.TrimPrefix(ref, "#")); err == nil {
		return g.plan(ctx, state.NumberedName(state.TypePlan, number))
	}
	if !state.IsChangeID(ref) {
		return nil, nil
	}
	index, err := g.Store.Index(ctx, state.TypePlan, state.Selector{})
	if err != nil {
		return nil, err
	}
	newest := index[max(0, len(index)-lookBack):]
	plans := make([]*Request, len(newest))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deleters)
	for i, record := range newest {
		group.Go(func() (err error) {
			plans[i], err = g.plan(ctx, record.Name)
			return
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(plans, func(r *Request) bool { return r != nil && r.ID == ref })
	if at < 0 {
		return nil, nil
	}
	return plans[at], nil
}

// plan reads one plan record; nil where it does not hold.
func (g *Gate) plan(ctx context.Context, name string) (*Request, error) {
	record, err := g.Store.Get(ctx, state.TypePlan, name)
	if err != nil {
		return nil, err
	}
	r := (&Ledger{clusterUID: g.ClusterUID}).openPlan(record)
	if r.Void != "" {
		return nil, nil
	}
	return &r, nil
}
