package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// IncidentRecord is what a person said about an incident, with a key of theirs.
type IncidentRecord struct {
	state.Incident
	Name    string // of the record
	Created time.Time
}

// Incidents are the incident records that hold, oldest first. They decide
// nothing: no approval rests on one.
func (l *Ledger) Incidents() []IncidentRecord { return l.incidents }

// loadIncidents takes the records that hold; the others are in Rejected.
func (l *Ledger) loadIncidents(list []state.Record) {
	for _, record := range list {
		incident, err := l.openIncident(record)
		if err != nil {
			l.reject(state.TypeIncident, record.Name, reasonOf(err), err.Error())
			continue
		}
		l.incidents = append(l.incidents, incident)
	}
	slices.SortStableFunc(l.incidents, func(a, b IncidentRecord) int { return a.Created.Compare(b.Created) })
}

func (l *Ledger) openIncident(record state.Record) (IncidentRecord, error) {
	r := IncidentRecord{Name: record.Name, Created: record.Created}
	opened, err := sign.Open(state.TypeIncident, record.Data[state.DataEnvelope], &r.Incident)
	if err == nil {
		err = l.untimely(r.Time, record.Created)
	}
	if err == nil {
		err = l.personalFault(record, opened, r.ClusterUID, r.Person.Username)
	}
	if starts, ends := r.Action == state.IncidentStart, r.Action == state.IncidentEnd; err == nil && (!starts && !ends || ends != (r.Incident.Incident != "")) {
		err = &Fault{Reason: approval.BadRecord, Message: fmt.Sprintf("action %q of incident %q is neither a start nor an end", r.Action, r.Incident.Incident)}
	}
	return r, err
}

// personalFault says why a record named by its content is not that person's own
// word about this cluster.
func (l *Ledger) personalFault(record state.Record, opened sign.Opened, cluster, person string) error {
	owner, known := l.book.Ring.Lookup(opened.Fingerprint)
	switch {
	case !record.Immutable:
		return &Fault{Reason: approval.NotImmutable, Message: "the record is not immutable"}
	case record.Name != state.ContentName(record.Type, opened.Payload):
		return &Fault{Reason: approval.BadRecord, Message: "the name is not that of the content"}
	case cluster != l.clusterUID:
		return &Fault{Reason: approval.WrongCluster, Message: "it is about cluster " + cluster}
	case person != record.Claims.Actor:
		return &Fault{Reason: approval.ActorMismatch, Message: fmt.Sprintf("signed as %q, written by %q", person, record.Claims.Actor)}
	case !known || owner.Person != person || !heldThen(owner, record.Created):
		return &Fault{Reason: approval.KeyNotEnrolled, Message: fmt.Sprintf("the key %s was not %s's", opened.Fingerprint, person)}
	}
	return nil
}

// examineIncidents names the incident records that do not hold.
func (l *Ledger) examineIncidents(list []state.Record) []audit.Finding {
	var out []audit.Finding
	for _, record := range list {
		if _, err := l.openIncident(record); err != nil {
			out = append(out, audit.Finding{Reason: reasonOf(err), Record: record.Name, Message: err.Error()})
		}
	}
	return out
}

// RecordIncident signs and stores what the caller says about an incident, and
// returns the name of the record. first is as in DecideInput. The same word of
// the same second is one record.
func (g *Gate) RecordIncident(ctx context.Context, l *Ledger, incident state.Incident, signer sign.Signer, first bool) (string, error) {
	if err := g.enrollFirst(ctx, l, signer, first); err != nil {
		return "", err
	}
	now, err := g.Store.Now(ctx)
	if err != nil {
		return "", fmt.Errorf("read the server's clock: %w", err)
	}
	incident.ClusterUID, incident.Time = g.ClusterUID, stamp(now)
	incident.Person = state.Person{Username: g.Caller.Username, Groups: l.relevant(g.Caller.Groups, nil)}
	record, err := g.create(ctx, draft{t: state.TypeIncident, predicate: incident, groups: incident.Person.Groups, signer: signer})
	var taken *takenError
	if errors.As(err, &taken) {
		return taken.name, nil
	}
	return record.Name, err
}
