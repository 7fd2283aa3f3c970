package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// deleters is how many records are deleted at once.
const deleters = 8

// Export puts all records together. What is in the store by then is in it.
func (g *Gate) Export(ctx context.Context) (audit.Bundle, error) {
	now, err := g.Store.Now(ctx)
	if err != nil {
		return audit.Bundle{}, fmt.Errorf("read the server's clock: %w", err)
	}
	var all []state.Record
	for _, t := range state.Types() {
		list, err := g.Store.List(ctx, t, state.Selector{})
		if err != nil {
			return audit.Bundle{}, fmt.Errorf("read %s records: %w", t, err)
		}
		all = append(all, list...)
	}
	return audit.NewBundle(g.ClusterUID, now, all), nil
}

// Archive is one archive on its way. Its steps are Prepare, writing Bundle to a
// file, Commit, Delete; a run that was stopped after Commit goes on with Resume.
type Archive struct {
	Bundle  audit.Bundle
	Entries []audit.Entry // to be archived
	gate    *Gate
	ledger  *Ledger
	facts   audit.Facts
}

// PrepareArchive chooses what was settled before a time. It refuses who could not
// archive it, also when that is nothing.
func (g *Gate) PrepareArchive(ctx context.Context, before time.Time) (*Archive, error) {
	a := &Archive{gate: g}
	var err error
	if a.Bundle, err = g.Export(ctx); err != nil {
		return nil, err
	}
	// From here on all is read from the bundle: what is chosen is what is kept.
	kept := *g
	kept.Store = a.Bundle.Store()
	if a.ledger, err = kept.Load(ctx); err != nil {
		return nil, err
	}
	if err := a.ledger.archivist(g.Caller); err != nil {
		return nil, err
	}
	if a.facts, err = kept.Examine(ctx); err != nil {
		return nil, err
	}
	a.Entries = audit.Archivable(a.facts, before, a.ledger.pending())
	if !slices.ContainsFunc(a.Entries, func(e audit.Entry) bool { return e.Archive == nil }) {
		a.Entries = nil
	}
	return a, nil
}

// pending are the requests that an archive leaves alone.
func (l *Ledger) pending() map[int]bool {
	out := map[int]bool{}
	for _, r := range l.requests {
		out[r.Number] = slices.Contains([]Status{AwaitingApproval, Approved, Invalid}, r.Status)
	}
	return out
}

// Commit writes the checkpoint: from now on the chain says that the entries lie
// in the bundle of this digest. Only an admin whom the policy names can.
func (a *Archive) Commit(ctx context.Context, digest string, signer sign.Signer) (state.Audit, error) {
	for range attempts {
		e, err := a.commit(ctx, digest, signer)
		if _, lost := lostRace(err); !lost {
			return e, err
		}
	}
	return state.Audit{}, &Fault{Reason: ReasonContended, Message: "gates kept writing entries at the same moment; run it again"}
}

func (a *Archive) commit(ctx context.Context, digest string, signer sign.Signer) (state.Audit, error) {
	g := a.gate
	l, err := g.Load(ctx)
	if err != nil {
		return state.Audit{}, err
	}
	if err := l.archivist(g.Caller); err != nil {
		return state.Audit{}, err
	}
	if key := fingerprintOf(signer.PublicKey()); !l.book.Ring.Holds(g.Caller.Username, key) {
		return state.Audit{}, notEligible("key %s is not enrolled for %s", key, g.Caller.Username)
	}
	archive := audit.NewArchive(a.facts, a.Entries, digest)
	archive.Plan = max(archive.Plan, l.nextNumber()-1)
	e := state.Audit{Actor: g.Caller, Archive: &archive, ClusterUID: g.ClusterUID, Epoch: l.Epoch().Version, Number: l.nextEntry(),
		PolicyVersion: len(l.policies), Previous: l.ChainHead(), Time: stamp(l.now), Verdict: state.VerdictArchived}
	e.Actor.Groups = l.relevant(g.Caller.Groups, nil)
	_, err = g.create(ctx, draft{t: state.TypeAudit, name: state.NumberedName(state.TypeAudit, e.Number), predicate: e,
		groups: e.Actor.Groups, signer: signer})
	return e, err
}

// archivist refuses whose checkpoint would not be believed.
func (l *Ledger) archivist(caller state.Person) error {
	if l.adminByName(caller.Username) {
		return nil
	}
	return notEligible("a checkpoint counts only from an admin whom a policy version names as a user, or who has set one; %s is none", caller.Username)
}

// Committed is the archive that the newest checkpoint is about, if its bundle
// has this digest: one that was stopped before all was deleted. Nil: none is.
func (g *Gate) Committed(ctx context.Context, bundle audit.Bundle, digest string) (*Archive, state.Audit, error) {
	l, err := g.Load(ctx)
	if err != nil {
		return nil, state.Audit{}, err
	}
	for _, e := range slices.Backward(l.audit) {
		if e.Archive == nil || !l.adminByName(e.Actor.Username) {
			continue
		}
		if e.Archive.Bundle != digest {
			return nil, state.Audit{}, nil
		}
		kept := *g
		kept.Store = bundle.Store()
		facts, err := kept.Examine(ctx)
		return &Archive{Bundle: bundle, gate: g, facts: facts}, e.Audit, err
	}
	return nil, state.Audit{}, nil
}

// Delete removes what a checkpoint archives and the bundle holds, and answers
// how many records that were. It can be stopped anywhere and repeated.
func (a *Archive) Delete(ctx context.Context, archive state.Archive) (deleted int, err error) {
	records := audit.Archived(a.Bundle, a.facts, archive)
	done := make([]bool, len(records))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deleters)
	for i, r := range records {
		group.Go(func() error {
			err := a.gate.Store.Delete(ctx, r.Type, r.Name)
			if done[i] = err == nil; errors.Is(err, state.ErrNotFound) {
				return nil
			}
			return err
		})
	}
	err = group.Wait()
	for _, gone := range done {
		if gone {
			deleted++
		}
	}
	return deleted, err
}
