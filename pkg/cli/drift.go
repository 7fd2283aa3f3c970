package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/drift"
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
	looker
	session *Session
	options DriftOptions
	applied map[string]*applied // by owner; "" is the folder
}

// Drift says of each direct change that no outcome says Git has how it stands,
// the oldest first.
func (s *Session) Drift(ctx context.Context, options DriftOptions) (*render.Drifted, error) {
	d := &drifting{session: s, options: options, applied: map[string]*applied{}}
	out := &render.Drifted{}
	var err error
	if d.looker, err = s.looker(ctx); err != nil {
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
	var bodies []plan.Body
	for _, c := range stored.Changes {
		_, wrote := written[c.Body.Key()]
		if wrote && c.Body.Operation != plan.Hook && (d.options.Settle || d.wanted(c.Body.Namespace)) {
			bodies = append(bodies, c.Body)
		}
	}
	all, err := d.judge(ctx, bodies, written, priors)
	if err != nil {
		return err
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

// judge looks at the objects of changes, and at what their owners applied last.
func (d *drifting) judge(ctx context.Context, bodies []plan.Body, written map[manifest.Key]time.Time, priors map[manifest.Key]map[string]any) ([]drift.Change, error) {
	looks, err := d.at(ctx, bodies)
	if err != nil {
		return nil, err
	}
	owners, err := d.owners(ctx, bodies, looks, priors)
	if err != nil {
		return nil, err
	}
	var all []drift.Change
	for i, body := range bodies {
		key, failure := body.Key(), looks[i].failure
		since := written[key]
		switch {
		case isSecret(key) && (d.masker.Unbound || failure != nil && failure.Reason == plan.ReasonForbidden):
			all = append(all, drift.Change{Key: key, Version: body.Version, Operation: body.Operation, Since: since, State: drift.Unreconciled,
				Why: "whether the cluster still has it is not known: you may read neither Secrets nor the key that compares their values"})
			continue
		case failure != nil && failure.Reason != plan.ReasonUnknownKind:
			return nil, unread(key, failure)
		}
		git, err := d.gitOf(ctx, owners[i])
		if err != nil {
			return nil, err
		}
		all = append(all, drift.Judge(body, since, looks[i].Sight, git.orNil()))
	}
	return all, nil
}

func isSecret(key manifest.Key) bool { return key.Group == "" && key.Kind == "Secret" }
