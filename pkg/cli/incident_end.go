package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/changeward/changeward/pkg/drift"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/incident"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// next renders what an owner of Flux would apply next: what its source holds now.
func (d *drifting) next(ctx context.Context, git *applied, ref gitops.Ref) error {
	now, err := d.session.Gate.Store.Now(ctx)
	if err != nil {
		return err
	}
	git.Reconciled = now.Add(time.Second) // a change of this second came before
	return d.render(ctx, git, Kustomization(ref.Namespace, ref.Name, "", "", true))
}

// IncidentEnd says how to end an incident.
type IncidentEnd struct {
	Force   bool // though Git lacks a change
	Reason  string
	Timeout time.Duration // of each owner, until it is ready
	Keys    KeyFlags
}

// ReasonNotInGit: Git lacks a direct change, so that resuming would undo it.
const ReasonNotInGit = "NotInGit"

// ReasonMoved: a direct change was undone after all.
const ReasonMoved = "Moved"

// EndIncident resumes what an incident suspended, once the sources hold every
// direct change, and records the end once Flux has applied them and none was
// undone. Until then all stays suspended, and the failure is one of findings. It
// may be stopped anywhere, and run again.
func (s *Session) EndIncident(ctx context.Context, i *incident.Incident, o IncidentEnd) (*render.Incident, error) {
	in, err := s.incidents(ctx)
	if err != nil {
		return nil, err
	}
	if !i.Open() {
		return render.NewIncident(i, s.Ledger.Now()), nil
	}
	signer, first, err := s.OwnKey(ctx, o.Keys) // before anything runs again
	if err != nil {
		return nil, err
	}
	before, missing, err := in.changes(ctx, i, DriftOptions{Foreign: true, Next: true})
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 && !o.Force {
		return in.lacking(ctx, i, missing)
	}
	owners, notes, err := in.resume(ctx, i, o.Timeout)
	if err != nil {
		return nil, err
	}
	after, undone, err := in.proof(ctx, i, before, o.Keys)
	if err != nil {
		return nil, err
	}
	if len(undone) > 0 && !o.Force {
		return nil, Fail(ReasonMoved, fmt.Errorf("the owners run again, and not all is as it was changed: %s", strings.Join(undone, "; ")),
			"the incident stays open: look at the objects, then run `"+s.Streams.Program+" incident end "+i.ID+"` again")
	}
	return in.close(ctx, i, state.Incident{Action: state.IncidentEnd, Incident: i.Start.Name, Forced: len(missing)+len(undone) > 0,
		Objects: after, Owners: owners, Reason: o.Reason}, signer, first, notes)
}

// changes are the direct changes of the owners of an incident, and what Git
// lacks of them, or what cannot be known.
func (in *incidents) changes(ctx context.Context, i *incident.Incident, options DriftOptions) (all []render.DirectChange, missing []string, err error) {
	found, err := in.Drift(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	names := map[string]bool{}
	for _, o := range i.Start.Owners {
		names[ownerName(o)] = true
	}
	for _, c := range found.Changes {
		if names[c.Owner] {
			all = append(all, c)
		}
		if names[c.Owner] && c.State == drift.Unreconciled {
			missing = append(missing, fmt.Sprintf("%s: %s", c.Key, c.Why))
		}
	}
	for _, text := range found.Unseen {
		for name := range names {
			if strings.Contains(text, name) {
				missing = append(missing, text)
			}
		}
	}
	return all, missing, nil
}

func ownerName(o state.IncidentOwner) string {
	return strings.ToLower(o.Kind) + "/" + o.Namespace + "/" + o.Name
}

// lacking is the answer where Git is not there yet: all stays suspended.
func (in *incidents) lacking(ctx context.Context, i *incident.Incident, missing []string) (*render.Incident, error) {
	out, err := in.IncidentStatus(ctx, i)
	if err != nil {
		return nil, err
	}
	out.Notes = append(out.Notes, missing...)
	program := in.Streams.Program
	return out, &Failure{Code: ExitFindings, Reason: ReasonNotInGit, Reported: true,
		Err:   errors.New("not all that was changed is in Git: nothing is resumed"),
		Hints: []string{fmt.Sprintf("for the morning: `kubectl changeward reconcile --k8s-dir DIR --pr`, and once that is merged `%s incident end %s`", program, i.ID)}}
}

// resume resumes the owners, each after those that it depends on, and parents
// last, and waits until each is ready.
func (in *incidents) resume(ctx context.Context, i *incident.Incident, timeout time.Duration) (owners []state.IncidentOwner, notes []string, err error) {
	recorded, needs := map[manifest.Key]state.IncidentOwner{}, map[manifest.Key][]manifest.Key{}
	var keys []manifest.Key
	for _, o := range slices.Backward(i.Start.Owners) {
		key := incident.KeyOf(o)
		live, err := incident.Observe(ctx, in.reader, key)
		var failure *incident.Error
		switch {
		case errors.As(err, &failure) && failure.Reason == plan.ReasonNotFound:
			notes = append(notes, ownerName(o)+" was deleted: there is nothing to resume")
		case err != nil:
			return nil, nil, explained(err)
		case live.UID != o.UID:
			notes = append(notes, ownerName(o)+" was deleted and made anew: it is left as it is")
		default:
			keys, needs[key], recorded[key] = append(keys, key), live.DependsOn(), o
		}
	}
	for _, key := range incident.Order(keys, needs) {
		o := recorded[key]
		at := time.Now().UTC()
		resumed, err := in.client.Resume(ctx, key, o.UID, i.ID, at)
		if err != nil {
			return nil, nil, explained(err)
		}
		if !resumed {
			notes = append(notes, ownerName(o)+" stays suspended: somebody else suspended it since")
			continue
		}
		in.Streams.Note("resumed " + ownerName(o) + ", waiting until it is ready")
		if o.Revision, err = in.client.Ready(ctx, key, at, timeout); err != nil {
			return nil, nil, explained(err, "the incident stays open: run `"+in.Streams.Program+" incident end "+i.ID+"` again")
		}
		owners = append(owners, o)
	}
	return owners, notes, nil
}

// proof looks at the changes once more, now that their owners have applied what
// Git has, and passes their fields to the owners. undone are those that do not
// stand as before.
func (in *incidents) proof(ctx context.Context, i *incident.Incident, before []render.DirectChange, keys KeyFlags) (after []state.IncidentObject, undone []string, err error) {
	if err := in.Reload(ctx); err != nil {
		return nil, nil, err
	}
	now, missing, err := in.changes(ctx, i, DriftOptions{Foreign: true, Settle: true, Keys: keys})
	if err != nil {
		return nil, nil, err
	}
	undone = missing
	for _, c := range now {
		stood := slices.ContainsFunc(before, func(b render.DirectChange) bool { return b.Key == c.Key && b.State != drift.Reverted })
		if c.State == drift.Reverted && stood {
			undone = append(undone, fmt.Sprintf("%s: %s", c.Key, c.Why))
		}
		object := state.IncidentObject{Group: c.Key.Group, Version: c.Version, Kind: c.Key.Kind, Namespace: c.Key.Namespace, Name: c.Key.Name,
			Manager: c.Manager, State: string(c.State)}
		for _, f := range c.Fields {
			object.Paths = append(object.Paths, f.Path)
		}
		after = append(after, object)
	}
	return after, undone, nil
}

// close records the end.
func (in *incidents) close(ctx context.Context, i *incident.Incident, end state.Incident, signer sign.Signer, first bool, notes []string) (*render.Incident, error) {
	if end.Owners == nil {
		end.Owners = []state.IncidentOwner{}
	}
	if _, err := in.Gate.RecordIncident(ctx, in.Ledger, end, signer, first); err != nil {
		return nil, err
	}
	if err := in.Reload(ctx); err != nil {
		return nil, err
	}
	in.replay()
	ended, err := incident.Find(in.all, i.ID)
	if err != nil {
		return nil, err
	}
	out := render.NewIncident(ended, in.Ledger.Now())
	out.Notes = append(out.Notes, notes...)
	return out, ctx.Err()
}
