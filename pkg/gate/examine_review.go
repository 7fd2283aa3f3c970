package gate

import (
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
			err = l.personalFault(record, opened, r.ClusterUID, r.Person.Username)
		}
		if r.Hash = opened.Hash; err != nil {
			r.Void, r.Detail = reasonOf(err), err.Error()
		}
		out = append(out, r)
	}
	return out
}
