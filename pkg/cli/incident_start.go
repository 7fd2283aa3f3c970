package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/incident"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// IncidentStart says how to start an incident.
type IncidentStart struct {
	Names          []string // of owners, as people write them
	Reason, Ticket string
	For            time.Duration // until it is overdue; 0 is no limit
	Unrecorded     bool          // suspend without a record
	Keys           KeyFlags
}

// StartIncident records an incident, then suspends its owners, and those that
// would resume them. What an earlier run left undone is done; a record that is
// there is not written again.
func (s *Session) StartIncident(ctx context.Context, o IncidentStart) (*render.Incident, error) {
	in, err := s.incidents(ctx)
	if err != nil {
		return nil, err
	}
	named, err := keysOf(o.Names, s.Namespace)
	if err != nil {
		return nil, err
	}
	standing, continued := incident.Standing(in.all, named)
	if standing != nil && !continued {
		return nil, Fail(incident.ReasonIncidentOpen, fmt.Errorf("incident %s is open on some of these already, by %s: %s", standing.ID, standing.Start.Person.Username, standing.Start.Reason),
			"work in that one, or end it first: `"+s.Streams.Program+" incident status "+standing.ID+"`")
	}
	if standing != nil {
		s.Streams.Note("going on with incident " + standing.ID)
		return in.suspend(ctx, render.NewIncident(standing, s.Ledger.Now()), standing.Start.Owners, standing.ID, standing.Start.Person.Username)
	}
	owners, notes, err := in.choose(ctx, named)
	if err != nil {
		return nil, err
	}
	if o.Unrecorded {
		out := render.UnrecordedIncident(s.Gate.Caller.Username, o.Reason, o.Ticket, owners)
		out.Notes = append(notes, "nothing is recorded: once records can be written, run this again without --no-record, and it takes over what is suspended")
		return in.suspend(ctx, out, owners, "", s.Gate.Caller.Username)
	}
	opened, err := in.record(ctx, o, owners)
	if err != nil {
		return nil, err
	}
	out := render.NewIncident(opened, s.Ledger.Now())
	out.Notes = append(out.Notes, notes...)
	return in.suspend(ctx, out, owners, opened.ID, s.Gate.Caller.Username)
}

// choose looks at the named owners, and adds those that would undo it, first.
func (in *incidents) choose(ctx context.Context, named []manifest.Key) (owners []state.IncidentOwner, notes []string, err error) {
	var found []incident.Owner
	var problems []error
	me := in.Gate.Caller.Username
	for _, key := range named {
		o, err := incident.Observe(ctx, in.reader, key)
		if err == nil {
			err = o.Free(me, "new")
		}
		if err == nil && o.Deleting {
			err = &incident.Error{Key: key, Reason: ReasonNotFound, Message: "it is being deleted"}
		}
		if err != nil {
			problems = append(problems, explained(err))
			continue
		}
		found = append(found, o)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, nil, err
	}
	parents, notes, err := incident.Undoing(ctx, in.reader, found)
	if err != nil {
		return nil, nil, explained(err)
	}
	for _, p := range parents {
		if held := p.Free(me, "new"); held != nil { // it undoes nothing as it is, and is not ours to resume
			notes = append(notes, held.Error()+"; it stays with them")
			continue
		}
		owners = append(owners, p.Record(true))
	}
	for _, o := range found {
		owners = append(owners, o.Record(false))
	}
	return owners, notes, nil
}

// record opens the incident, and makes sure that no other was faster.
func (in *incidents) record(ctx context.Context, o IncidentStart, owners []state.IncidentOwner) (*incident.Incident, error) {
	signer, first, err := in.OwnKey(ctx, o.Keys)
	if err != nil {
		return nil, err
	}
	said := state.Incident{Action: state.IncidentStart, Owners: owners, Reason: o.Reason, Ticket: o.Ticket}
	if o.For > 0 {
		now, err := in.Gate.Store.Now(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the server's clock: %w", err)
		}
		said.Until = state.FormatTime(now.Add(o.For))
	}
	written, err := in.Gate.RecordIncident(ctx, in.Ledger, said, signer, first)
	if err != nil {
		return nil, err
	}
	if first {
		in.NoteEnrolled(signer)
	}
	if err := in.Reload(ctx); err != nil {
		return nil, err
	}
	in.replay()
	id := incident.IDOf(written)
	at := slices.IndexFunc(in.all, func(i *incident.Incident) bool { return i.ID == id })
	if at < 0 {
		return nil, Fail(ReasonFailed, fmt.Errorf("the record %s does not hold, and nothing is suspended: `audit verify` says why", written))
	}
	return in.all[at], in.withdraw(ctx, in.all[at], signer)
}

// withdraw ends an incident at once, with an error, where another was opened on
// one of its owners before it was written.
func (in *incidents) withdraw(ctx context.Context, mine *incident.Incident, signer sign.Signer) error {
	for _, i := range in.all { // of two in one second neither is the first: both give way
		if i == mine || !i.Open() || i.Start.Created.After(mine.Start.Created) ||
			!slices.ContainsFunc(mine.Start.Owners, func(o state.IncidentOwner) bool { return i.Holds(incident.KeyOf(o)) }) {
			continue
		}
		why := "incident " + i.ID + " was opened on the same owner a moment before"
		_, err := in.Gate.RecordIncident(ctx, in.Ledger, state.Incident{Action: state.IncidentEnd, Incident: mine.Start.Name, Owners: []state.IncidentOwner{}, Reason: why}, signer, false)
		return errors.Join(Fail(incident.ReasonIncidentOpen, errors.New(why)), err)
	}
	return nil
}

// suspend suspends the owners, in the name of who opened the incident, and waits
// until Flux is done with what it was at.
func (in *incidents) suspend(ctx context.Context, out *render.Incident, owners []state.IncidentOwner, id, person string) (*render.Incident, error) {
	var problems []error
	for _, o := range owners {
		if err := in.client.Suspend(ctx, incident.KeyOf(o), o.UID, person, id); err != nil {
			problems = append(problems, explained(err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	for _, o := range owners { // parents first: what they had begun may resume a child once more
		still, err := in.settle(ctx, o, id, person)
		if err != nil {
			return nil, explained(err, "suspend what resumes it, too, and start again")
		}
		if still {
			out.Notes = append(out.Notes, fmt.Sprintf("%s %s/%s is suspended, and Flux is still at work on it: it may yet apply what it had begun", o.Kind, o.Namespace, o.Name))
		}
	}
	in.look(ctx, out, owners, id)
	return out, ctx.Err()
}

func (in *incidents) settle(ctx context.Context, o state.IncidentOwner, id, person string) (still bool, err error) {
	key := incident.KeyOf(o)
	still, err = in.client.Settle(ctx, key, patience)
	var failure *incident.Error
	if errors.As(err, &failure) && failure.Reason == incident.ReasonUndone {
		if err := in.client.Suspend(ctx, key, o.UID, person, id); err != nil {
			return false, err
		}
		return in.client.Settle(ctx, key, patience)
	}
	return still, err
}
