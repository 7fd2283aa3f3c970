package render

import (
	"fmt"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/state"
)

// KindDecisionList answers approve, reject and revoke.
const KindDecisionList = "DecisionList"

// DecisionList is what one command has signed.
type DecisionList struct {
	Type
	Items []DecisionResult `json:"items"`
}

// DecisionResult is one signed decision, and the request as it stands now.
type DecisionResult struct {
	Action string    `json:"action"`
	Record string    `json:"record"`
	Change ChangeRef `json:"change"`
	Hash   string    `json:"hash"`
}

// DecisionResultDocument is a decision that was just made. Until the gate runs
// again, the request's status is what the records say of it.
func DecisionResultDocument(action, record string, r gate.Request) DecisionResult {
	return DecisionResult{Action: action, Record: record, Change: *changeRef(&r), Hash: r.Hash}
}

// Text is the decision in one line.
func (d DecisionResult) Text() string {
	word := Past(d.Action)
	if d.Action == state.ActionRevoke {
		word = "revoked the approval of"
	}
	return fmt.Sprintf("%s %s (#%d): now %s\n", word, Escape(d.Change.ID), d.Change.Number, Escape(d.Change.Status))
}
