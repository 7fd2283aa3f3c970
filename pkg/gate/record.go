package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// draft is a record about to be signed and created.
type draft struct {
	t         state.Type
	name      string // "": by content
	subject   string // c_…, "" for types that are their own subject
	hash      string // plan hash, "" likewise
	scope     string
	predicate any
	groups    []string // claimed
	signer    sign.Signer
}

// create signs and stores a record. ErrExists: the name is taken.
func (g *Gate) create(ctx context.Context, d draft) (state.Record, error) {
	record, err := g.seal(d)
	if err != nil {
		return record, err
	}
	created, err := g.Store.Create(ctx, record)
	return created, unwritten(record, err)
}

// unwritten names the record that could not be created; nil for no error.
func unwritten(record state.Record, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("write %s record %s: %w", record.Type, record.Name, err)
	if errors.Is(err, state.ErrExists) {
		return &takenError{name: record.Name, err: err}
	}
	return err
}

// seal makes the signed record of a draft.
func (g *Gate) seal(d draft) (state.Record, error) {
	envelope, payload, err := sign.Seal(d.signer, d.t, d.subject, d.hash, d.predicate)
	if err != nil {
		return state.Record{}, fmt.Errorf("sign %s: %w", d.t, err)
	}
	record := state.Record{Type: d.t, Name: d.name, Data: map[string][]byte{state.DataEnvelope: envelope},
		Claims: state.Claims{Actor: g.Caller.Username, Groups: d.groups, Credential: g.Credential}}
	if record.Name == "" {
		record.Name = state.ContentName(d.t, payload)
	}
	if d.hash != "" {
		record.Plan = state.PlanLabel(d.hash)
	}
	if d.scope != "" {
		record.Scope = state.ScopeLabel(d.scope)
	}
	if d.t == state.TypeDecision {
		record.Claims.PlanHash = d.hash
	}
	return record, nil
}

// createRequest takes the next number for this plan. Creating the record is
// what takes it: of two gates one gets it, the other reads again and finds the
// same plan.
func (r *run) createRequest(ctx context.Context) (*Request, error) {
	encoded, err := plan.Encode(r.in.Plan)
	if err != nil {
		return nil, err
	}
	body, err := state.PackBody(encoded, r.in.Before)
	if err != nil {
		return nil, err
	}
	header, hash := r.in.Header, r.in.Plan.Hash
	header.Number, header.Time = r.ledger.nextNumber(), stamp(r.ledger.now)
	body.Describe(&header)
	request := &Request{ID: state.ChangeID(r.ClusterUID, hash, header.Number), Number: header.Number, Hash: hash, Header: header}
	record, err := r.seal(draft{t: state.TypePlan, name: state.NumberedName(state.TypePlan, header.Number),
		subject: request.ID, hash: hash, scope: header.Scope, predicate: header, signer: r.Signer})
	if err != nil {
		return nil, err
	}
	if request.record, err = state.PutPlan(ctx, r.Store, record, body); err != nil {
		return nil, unwritten(record, err)
	}
	request.Created = request.record.Created
	return request, nil
}

// Stored reads the recorded plan of a request, recomputes its hash, and
// returns it with its canonical bytes and the recorded before-state.
func (g *Gate) Stored(ctx context.Context, request Request) (p *plan.Plan, body, before []byte, err error) {
	if body, before, err = state.GetBody(ctx, g.Store, request.record, request.Header); err != nil {
		return nil, nil, nil, err
	}
	if p, err = plan.Decode(body); err != nil {
		return nil, nil, nil, fmt.Errorf("plan record %s: %w", request.record.Name, err)
	}
	if p.Hash != request.Hash {
		return nil, nil, nil, &Fault{Reason: ReasonRecordInvalid, Message: fmt.Sprintf(
			"plan record %s: the stored plan is not the one that was signed", request.record.Name)}
	}
	p.Scope = request.Header.Scope
	return p, body, before, nil
}

// recordVerdict appends an audit entry when the verdict changed.
func (r *run) recordVerdict(ctx context.Context, request *Request, counted approval.Result) error {
	v, last := r.result.Verdict, request.lastAudit()
	reason := ""
	if len(v.Reasons) > 0 {
		reason = v.Reasons[0].Reason
	}
	unchanged := last.Verdict == v.Decision && last.Reason == reason && last.NotEnforced == !r.result.Enforced
	if unchanged && (v.Decision != state.VerdictAllowed || !r.passedSince(request, last)) {
		return nil
	}
	e := state.Audit{Actor: r.Caller, Auto: v.Decision == state.VerdictAllowed && r.result.Judgement.Verdict == state.VerdictAllowed,
		ClusterUID: r.ClusterUID, Decisions: countedDigests(counted), Epoch: r.ledger.Epoch().Version,
		NotEnforced: !r.result.Enforced, Number: r.ledger.nextEntry(), PlanHash: request.Hash, PolicyVersion: r.result.PolicyVersion,
		Previous: r.ledger.ChainHead(), Reason: reason, Request: request.Number, Requirements: recorded(v.Requirements),
		Scope: request.Header.Scope, Time: stamp(r.ledger.now), Verdict: v.Decision}
	created, err := r.create(ctx, draft{t: state.TypeAudit, name: state.NumberedName(state.TypeAudit, e.Number),
		scope: e.Scope, predicate: e, signer: r.Signer})
	if err != nil {
		return err
	}
	request.Audit = append(request.Audit, e)
	r.result.ChainHead = state.Digest(created.Data[state.DataEnvelope])
	return nil
}

// passedSince says that another plan of the scope passed after this entry: then
// passing again is news, for the approvals of that other plan end with it.
func (r *run) passedSince(request *Request, last state.Audit) bool {
	return slices.ContainsFunc(r.ledger.audit, func(e entry) bool {
		return e.Number > last.Number && e.Scope == request.Header.Scope && e.Request != request.Number && passed(e.Audit)
	})
}

func countedDigests(counted approval.Result) []string {
	var digests []string
	for _, c := range counted.Checked {
		if c.Counts {
			digests = append(digests, c.Digest)
		}
	}
	slices.Sort(digests)
	return digests
}

// ApprovedBy are those whose approvals let a request pass, as its newest audit
// entry has them; nobody where policy alone did.
func (r *Request) ApprovedBy() []string {
	var people []string
	for _, d := range r.decisions {
		if d.Predicate.Action == state.ActionApprove && slices.Contains(r.lastAudit().Decisions, d.Digest) {
			people = append(people, d.Predicate.Person.Username)
		}
	}
	slices.Sort(people)
	return slices.Compact(people)
}

func recorded(list []Need) []state.Requirement {
	var out []state.Requirement
	for _, n := range list {
		out = append(out, state.Requirement{Count: n.Count, Groups: n.Who.Groups, Met: n.Met, Rule: n.Rule, Users: n.Who.Users})
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
