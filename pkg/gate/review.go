package gate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// Emergency is what became of a request that was approved in an emergency.
type Emergency struct {
	By, Reason string
	At         time.Time // of the first emergency approval
	Due        time.Time // by when another person is to review it
	// Reviewed is the review that counts, nil: nobody has.
	Reviewed *approval.Checked
	// Void are reviews that do not count.
	Void []approval.Checked
}

// Overdue says that nobody has reviewed it in time.
func (e Emergency) Overdue(now time.Time) bool { return e.Reviewed == nil && now.After(e.Due) }

// Unreviewed says that a request was approved in an emergency, and that nobody
// else has looked at it since.
func (r *Request) Unreviewed() bool { return r.Emergency != nil && r.Emergency.Reviewed == nil }

// loadReviews reads review records, by the number of the request.
func (l *Ledger) loadReviews(list []state.Record) {
	l.reviews = map[int][]approval.Decision{}
	for _, record := range list {
		var review state.Review
		d := approval.Decision{Record: record, Digest: state.Digest(record.Data[state.DataEnvelope])}
		opened, err := sign.Open(state.TypeReview, record.Data[state.DataEnvelope], &review)
		if err == nil && record.Name != state.ContentName(state.TypeReview, opened.Payload) {
			err = fmt.Errorf("the name is not that of the content")
		}
		if err != nil {
			l.reject(state.TypeReview, record.Name, reasonOf(err), err.Error())
			continue
		}
		d.Name, d.Hash, d.Fingerprint = opened.Name, opened.Hash, opened.Fingerprint
		d.Predicate = asDecision(review)
		if owner, known := l.book.Ring.Lookup(d.Fingerprint); known {
			l.signedWith(&d, owner)
		}
		l.reviews[review.Number] = append(l.reviews[review.Number], d)
	}
}

// asDecision is a review as package approval reads it.
func asDecision(r state.Review) state.Decision {
	return state.Decision{Action: approval.ActionReview, ClusterUID: r.ClusterUID, Number: r.Number, Person: r.Person, Reason: r.Reason, Time: r.Time}
}

// examineEmergency finds out whether a request was approved in an emergency,
// and whether that was reviewed.
func (g *Gate) examineEmergency(ctx context.Context, l *Ledger, r *Request) {
	r.Emergency = nil
	if !l.extent.whole() && !l.extent.reviews || r.Void != "" || !slices.ContainsFunc(r.decisions, func(d approval.Decision) bool { return d.Predicate.Emergency }) {
		return
	}
	facts := l.facts(r, g.requirements(ctx, l, r))
	found := approval.Emergencies(facts, r.decisions, passedOn(r))
	if len(found) == 0 {
		return
	}
	slices.SortStableFunc(found, func(a, b approval.Checked) int { return a.Record.Created.Compare(b.Record.Created) })
	first := found[0]
	r.Emergency = &Emergency{By: first.Predicate.Person.Username, Reason: first.Predicate.Reason, At: first.Record.Created,
		Due: first.Record.Created.Add(l.policy.Emergency.Review)}
	for _, c := range approval.Reviews(facts, found, l.reviews[r.Number]) {
		if !c.Counts {
			r.Emergency.Void = append(r.Emergency.Void, c)
		} else if r.Emergency.Reviewed == nil {
			r.Emergency.Reviewed = &c
		}
	}
}

// requirements are what policy asks for now; none where the plan cannot be read
// any more: then only those on call can review.
func (g *Gate) requirements(ctx context.Context, l *Ledger, r *Request) []policy.Requirement {
	stored, _, _, err := g.Stored(ctx, *r)
	if err != nil {
		return nil
	}
	judgement, err := g.judge(ctx, l, stored, r.Header, "")
	if err != nil {
		return nil
	}
	return judgement.Requirements
}

// passedOn are the digests of the decisions on whose strength a request passed.
func passedOn(r *Request) []string {
	var digests []string
	for _, e := range r.Audit {
		if passed(e) {
			digests = append(digests, e.Decisions...)
		}
	}
	return digests
}

// Review signs and stores that the caller has looked at a request that was
// approved in an emergency. first is as in DecideInput. One that would not
// count is refused.
func (g *Gate) Review(ctx context.Context, l *Ledger, request Request, reason string, signer sign.Signer, first bool) (state.Record, error) {
	if request.Emergency == nil {
		return state.Record{}, notEligible("%s was not approved in an emergency, so there is nothing to review", request.ID)
	}
	if done := request.Emergency.Reviewed; done != nil {
		return state.Record{}, notEligible("%s was reviewed already, by %s", request.ID, done.Predicate.Person.Username)
	}
	now, err := g.Store.Now(ctx)
	if err != nil {
		return state.Record{}, fmt.Errorf("read the server's clock: %w", err)
	}
	requirements := g.requirements(ctx, l, &request)
	review := state.Review{ClusterUID: g.ClusterUID, Number: request.Number, Reason: reason, Time: stamp(now),
		Person: state.Person{Username: g.Caller.Username, Groups: l.relevant(g.Caller.Groups, requirements)}}
	trial := l.trial(g, DecideInput{Request: request, Signer: signer, First: first}, asDecision(review))
	facts := l.facts(&request, requirements)
	found := approval.Emergencies(facts, request.decisions, passedOn(&request))
	if c := approval.Reviews(facts, found, []approval.Decision{trial})[0]; !c.Counts {
		return state.Record{}, &Fault{Reason: c.Reason, Message: fmt.Sprintf("your review of %s would not count: %s", request.ID, explain(c))}
	}
	if err := g.enrollFirst(ctx, l, signer, first); err != nil {
		return state.Record{}, err
	}
	return g.create(ctx, draft{t: state.TypeReview, subject: request.ID, hash: request.Hash, scope: request.Header.Scope,
		predicate: review, groups: review.Person.Groups, signer: signer})
}
