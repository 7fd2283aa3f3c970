package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// Examine reads all records for an audit. Unlike Load it stops at nothing but
// what cannot be read: whatever does not hold is in the facts, with its reason.
func (g *Gate) Examine(ctx context.Context) (audit.Facts, error) {
	all, err := g.read(ctx)
	if err != nil {
		return audit.Facts{}, err
	}
	now, err := g.Store.Now(ctx)
	if err != nil {
		return audit.Facts{}, fmt.Errorf("read the server's clock: %w", err)
	}
	l := &Ledger{now: now, clusterUID: g.ClusterUID, names: namesOf(all)}
	l.loadRing(all)
	f := audit.Facts{ClusterUID: g.ClusterUID, Now: now, Keys: len(l.ring.Entries())}
	if list := all[state.TypePolicy]; len(list) > 0 {
		f.FirstPolicy = state.Digest(list[0].Data[state.DataEnvelope])
	}
	f.Faults = l.chainFaults(all)
	f.Policies, f.Epochs = l.parsed, len(l.epochs)
	if l.policy != nil {
		f.ClusterName = l.policy.ClusterName
	}
	for _, r := range l.Rejected { // of keys; nothing else was read yet
		f.Faults = append(f.Faults, audit.Finding{Reason: r.Reason, Record: r.Name, Message: r.Detail})
	}
	f.Entries = l.examineEntries(all[state.TypeAudit])
	f.Decisions = l.examineDecisions(all[state.TypeDecision])
	f.Outcomes = l.examineOutcomes(all[state.TypeOutcome])
	f.Plans, err = g.examinePlans(ctx, l, all[state.TypePlan])
	return f, err
}

// chainFaults loads the chains of epochs and policies as far as they hold.
func (l *Ledger) chainFaults(all records) []audit.Finding {
	var faults []audit.Finding
	for _, load := range []func(records) error{l.loadEpochs, l.loadPolicies} {
		var fault *Fault
		if err := load(all); errors.As(err, &fault) {
			faults = append(faults, audit.Finding{Reason: fault.Reason, Message: fault.Message})
		}
	}
	return faults
}

func (l *Ledger) examineEntries(list []state.Record) []audit.Entry {
	var out []audit.Entry
	for _, record := range list {
		out = append(out, l.examineEntry(record))
	}
	slices.SortStableFunc(out, func(a, b audit.Entry) int { return a.Number - b.Number })
	return out
}

func (l *Ledger) examineEntry(record state.Record) audit.Entry {
	e := audit.Entry{Name: record.Name, Created: record.Created, Digest: state.Digest(record.Data[state.DataEnvelope])}
	opened, err := sign.Open(state.TypeAudit, record.Data[state.DataEnvelope], &e.Audit)
	if err == nil {
		err = l.machineRecord(record, opened, e.Actor, e.ClusterUID, state.NumberedName(state.TypeAudit, e.Number))
	}
	if err == nil {
		err = l.untimely(e.Time, record.Created)
	}
	e.SignedBy, e.ByGate = opened.Fingerprint, l.gateKeyThen(opened.Fingerprint, record.Created)
	if err == nil && l.gateKey(e.SignedBy) && !e.ByGate {
		err = fmt.Errorf("signed with %s, which was not the gate's key at that time", e.SignedBy)
	}
	e.Admin = e.Archive != nil && l.adminByName(e.Actor.Username)
	if err != nil {
		e.Void, e.Detail = reasonOf(err), err.Error()
		e.Number, _ = state.NumberOf(state.TypeAudit, record.Name) // where it lies, not what it says
	}
	return e
}

// gateKeyThen says whether a key was the gate's at a time: from the epoch that
// names it to the next.
func (l *Ledger) gateKeyThen(fingerprint string, at time.Time) bool {
	for i, e := range l.epochs {
		key, err := sign.ParseKey(e.predicate.GateKey)
		if err != nil || ssh.FingerprintSHA256(key) != fingerprint || at.Before(e.record.Created.Add(-sign.MaxClockDifference)) {
			continue
		}
		if i == len(l.epochs)-1 || at.Before(l.epochs[i+1].record.Created.Add(sign.MaxClockDifference)) {
			return true
		}
	}
	return false
}

// adminByName says that a person is known as an admin by more than a group that
// they claim: a policy names them, or they have set one that is in the chain.
func (l *Ledger) adminByName(name string) bool {
	for i, p := range l.parsed {
		if slices.Contains(p.Admins.Users, name) || l.policies[i].predicate.Actor.Username == name {
			return true
		}
	}
	return false
}

func (l *Ledger) untimely(signed string, created time.Time) error {
	if timely(signed, created) {
		return nil
	}
	return &Fault{Reason: approval.ClockSkew, Message: fmt.Sprintf("signed as of %q, written at %s", signed, stamp(created))}
}

// reasonOf is the reason constant that an error carries.
func reasonOf(err error) string {
	var bad *sign.Error
	var fault *Fault
	switch {
	case errors.As(err, &bad):
		return bad.Reason
	case errors.As(err, &fault):
		return fault.Reason
	}
	return ReasonRecordInvalid
}

func (l *Ledger) examineDecisions(list []state.Record) []audit.Decision {
	var out []audit.Decision
	for _, record := range list {
		d := l.readDecision(record)
		x := audit.Decision{Decision: d.Predicate, Name: record.Name, Digest: d.Digest, Hash: d.Hash, Created: record.Created,
			SignedBy: d.Fingerprint, Revoked: !d.KeyRevoked.IsZero(), Groups: record.Claims.Groups}
		x.Void, x.Detail = l.decisionFault(d)
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(a, b audit.Decision) int { return a.Created.Compare(b.Created) })
	return out
}

// decisionFault says why the signature of a decision proves nothing. The key is
// judged as of the time when the server saw the record.
func (l *Ledger) decisionFault(d approval.Decision) (reason, detail string) {
	record, person := d.Record, d.Predicate.Person
	switch {
	case d.Void != "":
		return d.Void, d.Detail
	case !record.Immutable:
		return approval.NotImmutable, "the record is not immutable"
	case d.Predicate.ClusterUID != l.clusterUID:
		return approval.WrongCluster, "it is about cluster " + d.Predicate.ClusterUID
	case d.Name != state.ChangeID(l.clusterUID, d.Hash, d.Predicate.Number):
		return approval.BadRecord, "its subject is named " + d.Name
	case person.Username != record.Claims.Actor:
		return approval.ActorMismatch, fmt.Sprintf("signed as %q, written by %q", person.Username, record.Claims.Actor)
	case !subset(person.Groups, record.Claims.Groups):
		return approval.GroupsNotAttested, "it claims groups in the signature that the record does not"
	case !timely(d.Predicate.Time, record.Created):
		return approval.ClockSkew, fmt.Sprintf("signed as of %q, written at %s", d.Predicate.Time, stamp(record.Created))
	case d.KeyOwner == "":
		return approval.KeyNotEnrolled, "nobody has enrolled the key " + d.Fingerprint
	case d.KeyOwner != person.Username:
		return approval.KeyOfAnother, fmt.Sprintf("the key %s is %s's", d.Fingerprint, d.KeyOwner)
	case d.KeyFrom.After(record.Created):
		return approval.KeyNotYetValid, fmt.Sprintf("the key %s was enrolled later", d.Fingerprint)
	case !d.KeyRevoked.IsZero() && !record.Created.Before(d.KeyRevoked):
		return approval.KeyRevoked, fmt.Sprintf("the key %s was revoked before, at %s", d.Fingerprint, stamp(d.KeyRevoked))
	}
	return "", ""
}

func (l *Ledger) examineOutcomes(list []state.Record) []audit.Outcome {
	var out []audit.Outcome
	for _, record := range list {
		o := audit.Outcome{Name: record.Name, Created: record.Created}
		opened, err := sign.Open(state.TypeOutcome, record.Data[state.DataEnvelope], &o.Outcome)
		if err == nil {
			err = l.machineRecord(record, opened, o.Actor, o.ClusterUID, state.OutcomeName(o.Number, o.Sequence))
		}
		if err == nil {
			err = l.untimely(o.Time, record.Created)
		}
		if o.Hash = opened.Hash; err != nil {
			o.Void, o.Detail = reasonOf(err), err.Error()
		}
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b audit.Outcome) int { return a.Sequence - b.Sequence })
	return out
}

func (g *Gate) examinePlans(ctx context.Context, l *Ledger, list []state.Record) ([]audit.Plan, error) {
	var out []audit.Plan
	for _, record := range list {
		out = append(out, g.examinePlan(ctx, l, record))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	slices.SortStableFunc(out, func(a, b audit.Plan) int { return a.Number - b.Number })
	return out, nil
}

// examinePlan reads the body, too: it must be the one whose hash was signed.
func (g *Gate) examinePlan(ctx context.Context, l *Ledger, record state.Record) audit.Plan {
	r := l.openPlan(record)
	p := audit.Plan{ID: r.ID, Hash: r.Hash, Name: record.Name, Number: r.Number, Header: r.Header, Created: r.Created,
		SignedBy: r.SignedBy, Chunks: slices.Concat(r.Header.Parts, r.Header.BeforeParts), Void: r.Void, Detail: r.Detail}
	proposer := r.Header.Proposer.Username
	owner, known := l.ring.Lookup(r.SignedBy)
	p.Known = l.gateKeyThen(r.SignedBy, r.Created) || known && owner.Person == proposer && heldThen(owner, r.Created)
	switch {
	case p.Void != "":
	case proposer == "" || proposer != record.Claims.Actor:
		p.Void, p.Detail = ReasonRecordInvalid, fmt.Sprintf("proposed in the name of %q, written by %q", proposer, record.Claims.Actor)
	case known && owner.Person != proposer:
		p.Void, p.Detail = approval.KeyOfAnother, fmt.Sprintf("proposed in the name of %q, signed with a key of %q", proposer, owner.Person)
	default:
		stored, _, _, err := g.Stored(ctx, r)
		if err != nil {
			p.Void, p.Detail = reasonOf(err), err.Error()
			break
		}
		p.Hooks = len(hooksOf(stored)) > 0
	}
	return p
}
