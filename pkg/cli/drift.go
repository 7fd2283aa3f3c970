package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/drift"
	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/reconcile"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

// DriftOptions say which direct changes are looked for, and where.
type DriftOptions struct {
	Dir string // of manifests that are applied; "" leaves it to the owners
	// Namespace limits it to objects of one; "" is all.
	Namespace string
	// Foreign looks for what people's tools changed past changeward, too.
	Foreign bool
	// Next judges by what Flux would apply next: what its source holds by now. It
	// is for owners that are suspended.
	Next bool
	// Settle records what Git has, and passes its fields to their owners; Keys
	// sign that.
	Settle bool
	Keys   KeyFlags
}

// drifting looks at direct changes.
type drifting struct {
	session *Session
	options DriftOptions
	kinds   *dryrun.Kinds
	masker  manifest.Masker
	applied map[string]*applied // by owner; "" is the folder
}

// Drift says of each direct change that no outcome says Git has how it stands,
// the oldest first.
func (s *Session) Drift(ctx context.Context, options DriftOptions) (*render.Drifted, error) {
	d := &drifting{session: s, options: options, applied: map[string]*applied{}}
	out := &render.Drifted{}
	var err error
	if d.kinds, err = s.Client.Kinds(ctx); err != nil {
		return nil, err
	}
	if d.masker, err = s.Masker(ctx); err != nil {
		return nil, err
	}
	if out.Now, err = s.Gate.Store.Now(ctx); err != nil {
		return nil, fmt.Errorf("read the server's clock: %w", err)
	}
	for _, request := range reconcile.Unreconciled(s.Ledger.Requests(), "") {
		if err := d.request(ctx, request, out); err != nil {
			return nil, fmt.Errorf("%s (#%d): %w", request.ID, request.Number, err)
		}
	}
	if options.Foreign {
		if err := d.foreign(ctx, out); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out.Changes, func(a, b render.DirectChange) int { return a.Since.Compare(b.Since) })
	return out, nil
}

// request judges what was written of one request, and settles it.
func (d *drifting) request(ctx context.Context, request gate.Request, out *render.Drifted) error {
	stored, _, before, err := d.session.Gate.Stored(ctx, request)
	if err != nil {
		return err
	}
	priors, err := plan.Priors(before)
	if err != nil {
		return err
	}
	written := writtenAt(request)
	var all []drift.Change
	for _, c := range stored.Changes {
		since, wrote := written[c.Body.Key()]
		if !wrote || c.Body.Operation == plan.Hook || !d.options.Settle && !d.wanted(c.Body.Namespace) {
			continue
		}
		change, err := d.judge(ctx, c.Body, since, priors[c.Body.Key()])
		if err != nil {
			return err
		}
		all = append(all, change)
	}
	settled := d.options.Settle && drift.Settled(all)
	if settled {
		if err := d.settle(ctx, request, all); err != nil {
			return err
		}
	}
	for _, c := range all {
		if d.wanted(c.Key.Namespace) {
			out.Changes = append(out.Changes, render.DirectChange{Change: c, Request: &request, Settled: settled})
		}
	}
	return nil
}

func (d *drifting) wanted(namespace string) bool {
	return d.options.Namespace == "" || d.options.Namespace == namespace
}

// writtenAt is when each object of a request was written last.
func writtenAt(request gate.Request) map[manifest.Key]time.Time {
	out := map[manifest.Key]time.Time{}
	for _, outcome := range request.Outcomes {
		at, err := time.Parse(time.RFC3339, outcome.Time)
		if err != nil || outcome.Observed {
			continue
		}
		for _, o := range outcome.Objects {
			if slices.Contains([]string{state.ObjectWritten, state.ObjectUnknown, state.ObjectUnchanged}, o.Result) {
				out[manifest.Key{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}] = at
			}
		}
	}
	return out
}

// judge looks at one object, and at what its owner applied last. Of an object
// that is gone, the one from before tells the owner.
func (d *drifting) judge(ctx context.Context, body plan.Body, since time.Time, prior map[string]any) (drift.Change, error) {
	key := body.Key()
	live, failure := d.session.Client.Look(ctx, d.kinds, d.masker, body.Version, key)
	secret := key.Group == "" && key.Kind == "Secret"
	switch {
	case secret && (d.masker.Unbound || failure != nil && failure.Reason == plan.ReasonForbidden):
		return drift.Change{Key: key, Version: body.Version, Operation: body.Operation, Since: since, State: drift.Unreconciled,
			Why: "whether the cluster still has it is not known: you may read neither Secrets nor the key that compares their values"}, nil
	case failure != nil && failure.Reason != plan.ReasonUnknownKind:
		return drift.Change{}, Fail(failure.Reason, fmt.Errorf("read %s: %s", key, failure.Message))
	}
	claimed := live.Object
	if claimed == nil {
		claimed = prior
	}
	git, err := d.gitOf(ctx, claimed)
	if err != nil {
		return drift.Change{}, err
	}
	if git == nil {
		return drift.Judge(body, since, live, nil), nil
	}
	return drift.Judge(body, since, live, &git.Applied), nil
}
