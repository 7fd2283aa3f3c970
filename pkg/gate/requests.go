package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/pkg/trust"
	"github.com/changeward/changeward/state"
)

// loadRequests reads plans, then what was decided and done about each, and
// computes the status of all.
func (g *Gate) loadRequests(ctx context.Context, l *Ledger, all records) error {
	for _, record := range all[state.TypePlan] {
		l.requests = append(l.requests, l.readPlan(record))
	}
	slices.SortFunc(l.requests, func(a, b Request) int { return a.Number - b.Number })
	l.loadOutcomes(all[state.TypeOutcome])
	decisions := l.readDecisions(l.relevantTo(all[state.TypeDecision]))
	for i := range l.requests {
		r := &l.requests[i]
		r.decisions = decisions[r.Number]
		for i := range l.audit {
			if e := &l.audit[i]; e.Request == r.Number && e.PlanHash == r.Hash {
				r.Audit = append(r.Audit, e.Audit)
			}
		}
	}
	l.loadReviews(all[state.TypeReview])
	l.loadIncidents(all[state.TypeIncident])
	for i := len(l.requests) - 1; i >= 0; i-- { // newest first: older ones look at newer ones
		if err := g.settle(ctx, l, &l.requests[i]); err != nil {
			return err
		}
		g.examineEmergency(ctx, l, &l.requests[i])
	}
	return nil
}

// readPlan reads the signed header of a plan record. A record that does not
// hold keeps its number.
func (l *Ledger) readPlan(record state.Record) Request {
	r := l.openPlan(record)
	if r.Void == "" {
		r.Void, r.Detail = l.doubtfulProposer(record, r)
	}
	if r.Void != "" {
		l.reject(state.TypePlan, record.Name, r.Void, r.Detail)
	}
	return r
}

// openPlan reads it without asking who proposed it.
func (l *Ledger) openPlan(record state.Record) Request {
	r := Request{record: record, Created: record.Created}
	r.Number, _ = state.NumberOf(state.TypePlan, record.Name)
	opened, err := sign.Open(state.TypePlan, record.Data[state.DataEnvelope], &r.Header)
	r.Hash, r.SignedBy = opened.Hash, opened.Fingerprint
	r.ID = state.ChangeID(l.clusterUID, r.Hash, r.Number)
	switch {
	case err != nil:
		r.Void, r.Detail = ReasonRecordInvalid, err.Error()
	case !record.Immutable:
		r.Void, r.Detail = ReasonRecordInvalid, "the record is not immutable"
	case record.Name != state.NumberedName(state.TypePlan, r.Header.Number):
		r.Void, r.Detail = ReasonRecordInvalid, fmt.Sprintf("the signed number is %d", r.Header.Number)
	case r.Header.ClusterUID != l.clusterUID:
		r.Void, r.Detail = ReasonRecordInvalid, "made for another cluster"
	case opened.Name != state.ChangeID(l.clusterUID, opened.Hash, r.Header.Number):
		r.Void, r.Detail = ReasonRecordInvalid, "the subject is another change request"
	}
	return r
}

// doubtfulProposer says why a plan record does not prove who proposed it, or
// "": who could propose in another's name could approve the own change. It
// takes the API server's word, or else a signature of the gate or the proposer.
func (l *Ledger) doubtfulProposer(record state.Record, r Request) (reason, detail string) {
	proposer := r.Header.Proposer.Username
	owner, known := l.book.Ring.Lookup(r.SignedBy)
	switch {
	case proposer == "" || proposer != record.Claims.Actor:
		return ReasonRecordInvalid, fmt.Sprintf("proposed in the name of %q, written by %q", proposer, record.Claims.Actor)
	case known && owner.Person != proposer:
		return ReasonRecordInvalid, fmt.Sprintf("proposed in the name of %q, signed with a key of %q", proposer, owner.Person)
	case known && l.believes(owner) || l.gateKey(r.SignedBy) || l.attested(r.Created) == "":
		return "", ""
	}
	return ReasonRecordInvalid, fmt.Sprintf("neither an API server nor a known key proves that %q proposed it", proposer)
}

// loadOutcomes takes the outcomes that the gate or an enrolled person signed.
func (l *Ledger) loadOutcomes(list []state.Record) {
	for _, record := range list {
		outcome, opened, err := l.openOutcome(record)
		if err != nil {
			l.reject(state.TypeOutcome, record.Name, ReasonRecordInvalid, err.Error())
			continue
		}
		for i := range l.requests {
			if r := &l.requests[i]; r.Number == outcome.Number && r.Hash == opened.Hash {
				r.Outcomes = append(r.Outcomes, outcome)
			}
		}
	}
	for _, r := range l.requests {
		slices.SortFunc(r.Outcomes, func(a, b state.Outcome) int { return a.Sequence - b.Sequence })
	}
}

// openOutcome reads one, and says why it does not count.
func (l *Ledger) openOutcome(record state.Record) (outcome state.Outcome, opened sign.Opened, err error) {
	opened, err = sign.Open(state.TypeOutcome, record.Data[state.DataEnvelope], &outcome)
	if err == nil {
		err = l.machineRecord(record, opened, outcome.Actor, outcome.ClusterUID, state.OutcomeName(outcome.Number, outcome.Sequence))
	}
	if err == nil {
		err = outcome.Check()
	}
	return outcome, opened, err
}

func (l *Ledger) loadAudit(list []state.Record) {
	for _, record := range list {
		var e state.Audit
		opened, err := sign.Open(state.TypeAudit, record.Data[state.DataEnvelope], &e)
		if err == nil {
			err = l.machineRecord(record, opened, e.Actor, e.ClusterUID, state.NumberedName(state.TypeAudit, e.Number))
		}
		if err != nil {
			l.reject(state.TypeAudit, record.Name, ReasonRecordInvalid, err.Error())
			continue
		}
		l.audit = append(l.audit, entry{Audit: e, digest: state.Digest(opened.Envelope), byGate: l.gateKey(opened.Fingerprint), at: record.Created})
	}
}

// machineRecord checks a record that a gate, or a person in its place, wrote.
func (l *Ledger) machineRecord(record state.Record, opened sign.Opened, actor state.Person, clusterUID, name string) error {
	switch {
	case !record.Immutable:
		return fmt.Errorf("the record is not immutable")
	case clusterUID != l.clusterUID:
		return fmt.Errorf("made for another cluster")
	case record.Name != name:
		return fmt.Errorf("the signed name is %s", name)
	case actor.Username != record.Claims.Actor:
		return fmt.Errorf("signed as %q, written by %q", actor.Username, record.Claims.Actor)
	case !l.trusted(opened, actor, record.Created):
		return fmt.Errorf("signed with key %s, which is neither the gate's nor enrolled for %q", opened.Fingerprint, actor.Username)
	}
	return nil
}

func (l *Ledger) trusted(opened sign.Opened, actor state.Person, at time.Time) bool {
	owner, known := l.book.Ring.Lookup(opened.Fingerprint)
	return l.gateKey(opened.Fingerprint) || known && owner.Person == actor.Username && l.believes(owner) && heldThen(owner, at)
}

// gateKey says whether a key is, or was, that of the gate.
func (l *Ledger) gateKey(fingerprint string) bool {
	return slices.ContainsFunc(l.epochs, func(e trust.Version[state.Epoch]) bool {
		key, err := sign.ParseKey(e.Predicate.GateKey)
		return err == nil && ssh.FingerprintSHA256(key) == fingerprint
	})
}

// readDecisions reads decision records, by the number they are about.
func (l *Ledger) readDecisions(list []state.Record) map[int][]approval.Decision {
	out := map[int][]approval.Decision{}
	for _, record := range list {
		d := l.readDecision(record)
		if d.Void != "" {
			l.reject(state.TypeDecision, record.Name, d.Void, d.Detail)
		}
		out[d.Predicate.Number] = append(out[d.Predicate.Number], d)
	}
	return out
}

func (l *Ledger) readDecision(record state.Record) approval.Decision {
	d := approval.Decision{Record: record, Digest: state.Digest(record.Data[state.DataEnvelope])}
	opened, err := sign.Open(state.TypeDecision, record.Data[state.DataEnvelope], &d.Predicate)
	if err != nil {
		d.Void, d.Detail = ReasonRecordInvalid, err.Error()
		var fault *sign.Error
		if errors.As(err, &fault) {
			d.Void = fault.Reason
		}
		return d
	}
	d.Name, d.Hash, d.Fingerprint = opened.Name, opened.Hash, opened.Fingerprint
	if record.Name != state.ContentName(state.TypeDecision, opened.Payload) {
		d.Void, d.Detail = ReasonRecordInvalid, "the name is not that of the content"
	}
	if owner, known := l.book.Ring.Lookup(d.Fingerprint); known {
		l.signedWith(&d, owner)
	}
	return d
}
