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
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/pkg/trust"
	"github.com/changeward/changeward/state"
)

// Examine reads all records for an audit. Unlike Load it stops at nothing but
// what cannot be read: whatever does not hold is in the facts, with its reason.
func (g *Gate) Examine(ctx context.Context) (audit.Facts, error) {
	all, err := g.read(ctx, types())
	if err != nil {
		return audit.Facts{}, err
	}
	now, err := g.Store.Now(ctx)
	if err != nil {
		return audit.Facts{}, fmt.Errorf("read the server's clock: %w", err)
	}
	l := &Ledger{now: now, clusterUID: g.ClusterUID, names: namesOf(all)}
	faults := l.examineTrust(all)
	f := audit.Facts{ClusterUID: g.ClusterUID, Now: now, Keys: len(l.book.Ring.Entries()), Faults: faults,
		Policies: l.book.Settings, Epochs: len(l.epochs), ClusterName: l.policy.ClusterName}
	if list := all[state.TypePolicy]; len(list) > 0 {
		f.FirstPolicy = state.Digest(list[0].Data[state.DataEnvelope])
	}
	for _, r := range l.book.Reigns() {
		f.Rosters = append(f.Rosters, audit.Roster(r))
	}
	f.Entries = l.examineEntries(all[state.TypeAudit])
	f.Decisions = l.examineDecisions(all[state.TypeDecision])
	f.Outcomes = l.examineOutcomes(all[state.TypeOutcome])
	f.Reviews = l.examineReviews(all[state.TypeReview])
	f.Faults = append(f.Faults, l.examineIncidents(all[state.TypeIncident])...)
	f.Plans, err = g.examinePlans(ctx, l, all[state.TypePlan])
	f.Mislabelled = mislabelled(all, f)
	return f, err
}

// examineTrust reads keys and versions as far as they hold. It takes the API
// server's word: what that is worth is for whoever stands before the server.
func (l *Ledger) examineTrust(all records) []audit.Finding {
	opened := l.open(all)
	l.epochs = opened.Epochs()
	var err error
	var faults []audit.Finding
	l.book, err = opened.Read(l.epochs, func(time.Time) string { return "" })
	var gap *trust.Error
	var fault *Fault
	if errors.As(err, &gap) && errors.As(broken(gap.Type, gap.Name, gap.Why), &fault) {
		faults = append(faults, audit.Finding{Reason: fault.Reason, Message: fault.Message})
	}
	for _, r := range l.book.Rejected {
		if r.Asked == nil {
			faults = append(faults, audit.Finding{Reason: r.Reason, Record: r.Name, Message: r.Detail})
		}
	}
	l.policies, l.policy = l.book.Policies, &policy.Policy{}
	if n := len(l.book.Settings); n > 0 {
		settings := *l.book.Settings[n-1]
		settings.Approvals.Enrollment = policy.EnrollmentAttested // a roster of today says nothing about then
		l.policy = &settings
	} else if err == nil {
		faults = append(faults, audit.Finding{Reason: ReasonNoPolicy, Message: "no policy counts"})
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
		key, err := sign.ParseKey(e.Predicate.GateKey)
		if err != nil || ssh.FingerprintSHA256(key) != fingerprint || at.Before(e.Record.Created.Add(-sign.MaxClockDifference)) {
			continue
		}
		if i == len(l.epochs)-1 || at.Before(l.epochs[i+1].Record.Created.Add(sign.MaxClockDifference)) {
			return true
		}
	}
	return false
}

// adminByName says that a person is known as an admin by more than a group that
// they claim.
func (l *Ledger) adminByName(name string) bool { return l.book.AdminByName(name) }

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
		var opened sign.Opened
		var err error
		if o.Outcome, opened, err = l.openOutcome(record); err == nil {
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
		SignedBy: r.SignedBy, Void: r.Void, Detail: r.Detail}
	for _, digest := range slices.Concat(r.Header.Parts, r.Header.BeforeParts) {
		p.Chunks = append(p.Chunks, state.ChunkNames(digest, record.Data[state.DataEnvelope])...)
	}
	proposer := r.Header.Proposer.Username
	owner, known := l.book.Ring.Lookup(r.SignedBy)
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
