package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/incident"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

// incidents is what the verbs of incidents work with.
type incidents struct {
	*Session
	client *incident.Client
	reader dryrun.Reader
	all    []*incident.Incident
}

func (s *Session) incidents(ctx context.Context) (*incidents, error) {
	kinds, err := s.Client.Kinds(ctx)
	if err != nil {
		return nil, err
	}
	in := &incidents{Session: s, reader: dryrun.Reader{Client: s.Client, Kinds: kinds}}
	in.client, err = incident.New(s.Config, kinds, in.reader)
	in.replay()
	return in, err
}

func (in *incidents) replay() {
	if in.Ledger != nil {
		in.all = incident.Replay(in.Ledger.Incidents())
	}
}

// Incidents are all incidents, oldest first.
func (s *Session) Incidents() []*incident.Incident { return incident.Replay(s.Ledger.Incidents()) }

// FindIncident is the incident that a person means: an id, the name of an owner,
// or "" for the only open one.
func (s *Session) FindIncident(ref string) (*incident.Incident, error) {
	found, err := incident.Find(s.Incidents(), ref)
	if err != nil {
		return nil, Fail(ReasonNotFound, err, "`"+s.Streams.Program+" incident list --all` shows all")
	}
	return found, nil
}

// IncidentStatus is an incident with its owners as they are now.
func (s *Session) IncidentStatus(ctx context.Context, i *incident.Incident) (*render.Incident, error) {
	in, err := s.incidents(ctx)
	if err != nil {
		return nil, err
	}
	now, err := s.Gate.Store.Now(ctx)
	if err != nil {
		return nil, err
	}
	out := render.NewIncident(i, now)
	if !i.Open() {
		return out, nil
	}
	in.look(ctx, out, i.Start.Owners, i.ID)
	return out, ctx.Err()
}

// look enters the state of each owner.
func (in *incidents) look(ctx context.Context, out *render.Incident, owners []state.IncidentOwner, id string) {
	for n, recorded := range owners {
		o, err := incident.Observe(ctx, in.reader, incident.KeyOf(recorded))
		at := &out.Owners[n]
		var failure *incident.Error
		switch {
		case errors.As(err, &failure) && failure.Reason == plan.ReasonNotFound:
			at.State = render.OwnerGone
		case err != nil:
			at.State = render.OwnerUnread
			out.Notes = append(out.Notes, err.Error())
		case o.UID != recorded.UID:
			at.State = render.OwnerReplaced
		case !o.Suspended:
			at.State = render.OwnerRunning
		case id != "" && o.Mark != id:
			at.State, at.SuspendedBy = render.OwnerHeld, o.By
		default:
			at.State, at.SuspendedBy = render.OwnerSuspended, o.By
		}
		if out.Status == render.IncidentOpen && at.State == render.OwnerRunning {
			out.Notes = append(out.Notes, at.Kind+" "+at.Namespace+"/"+at.Name+" is not suspended: Flux puts back what was changed by hand")
		}
	}
}

// keysOf reads the names of owners, with all that is wrong with them.
func keysOf(names []string, namespace string) ([]manifest.Key, error) {
	var keys []manifest.Key
	var problems []error
	seen := map[manifest.Key]bool{}
	for _, text := range names {
		key, err := incident.ParseName(text, namespace)
		if err != nil {
			problems = append(problems, Usage(err.Error()))
		} else if !seen[key] {
			seen[key], keys = true, append(keys, key)
		}
	}
	return keys, errors.Join(problems...)
}

// explained is a failure with the reason of an owner's error.
func explained(err error, hints ...string) error {
	var failure *incident.Error
	if errors.As(err, &failure) {
		return Fail(failure.Reason, err, hints...)
	}
	return err
}

// patience is how long Flux gets to finish what it is at.
const patience = time.Minute

// AboutRecords says that an error is about records that cannot be read or
// written, and not about owners.
func AboutRecords(err error) bool {
	var owner *incident.Error
	var failure *Failure
	if errors.As(err, &failure) && (failure.Reason == ReasonUsage || failure.Reason == incident.ReasonIncidentOpen) {
		return false
	}
	return !errors.As(err, &owner)
}

// CompleteIncidents offers the open incidents.
func CompleteIncidents(streams Streams, flags *ClusterFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		streams.ErrOut = io.Discard
		session, err := Connect(ctx, flags, streams, NeedsRecords)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var offers []string
		for _, i := range session.Incidents() {
			if i.Open() {
				offers = append(offers, cobra.CompletionWithDesc(i.ID, render.Escape(i.Start.Reason)))
			}
		}
		return offers, cobra.ShellCompDirectiveNoFileComp
	}
}
