package gate

import (
	"fmt"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// examineReviews reads what people said afterwards of approvals in an emergency.
func (l *Ledger) examineReviews(list []state.Record) []audit.Review {
	var out []audit.Review
	for _, record := range list {
		r := audit.Review{Name: record.Name, Created: record.Created}
		opened, err := sign.Open(state.TypeReview, record.Data[state.DataEnvelope], &r.Review)
		if err == nil {
			err = l.untimely(r.Time, record.Created)
		}
		if err == nil {
			err = l.reviewFault(record, opened, r.Review)
		}
		if r.Hash = opened.Hash; err != nil {
			r.Void, r.Detail = reasonOf(err), err.Error()
		}
		out = append(out, r)
	}
	return out
}

func (l *Ledger) reviewFault(record state.Record, opened sign.Opened, r state.Review) error {
	owner, known := l.book.Ring.Lookup(opened.Fingerprint)
	switch {
	case !record.Immutable:
		return &Fault{Reason: approval.NotImmutable, Message: "the record is not immutable"}
	case record.Name != state.ContentName(state.TypeReview, opened.Payload):
		return &Fault{Reason: approval.BadRecord, Message: "the name is not that of the content"}
	case r.ClusterUID != l.clusterUID:
		return &Fault{Reason: approval.WrongCluster, Message: "it is about cluster " + r.ClusterUID}
	case r.Person.Username != record.Claims.Actor:
		return &Fault{Reason: approval.ActorMismatch, Message: fmt.Sprintf("signed as %q, written by %q", r.Person.Username, record.Claims.Actor)}
	case !known || owner.Person != r.Person.Username || !heldThen(owner, record.Created):
		return &Fault{Reason: approval.KeyNotEnrolled, Message: fmt.Sprintf("the key %s was not %s's", opened.Fingerprint, r.Person.Username)}
	}
	return nil
}
