package gate

import (
	"time"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// Status of a change request.
type Status string

// The statuses (docs: life of a request).
const (
	AwaitingApproval Status = "awaiting-approval"
	Approved         Status = "approved"
	AutoApproved     Status = "auto-approved"
	Denied           Status = "denied"
	Rejected         Status = "rejected"
	Expired          Status = "expired"
	Superseded       Status = "superseded"
	Applied          Status = "applied"
	Diverged         Status = "diverged"
	// Invalid: the plan record itself does not hold; see Request.Void.
	Invalid Status = "invalid"
)

// Request is one change request: a plan record and what was decided on it.
type Request struct {
	ID        string // c_…
	Number    int
	Hash      string
	Status    Status
	Header    state.Plan // signed header of the plan record
	Created   time.Time  // server time of the plan record
	SignedBy  string     // fingerprint of the key that signed the plan
	Decisions []approval.Checked
	Outcomes  []state.Outcome
	Audit     []state.Audit // entries about this request, oldest first
	Expires   time.Time     // of a standing approval; zero: none
	// Emergency is set where an emergency approval let it pass, or would.
	Emergency *Emergency
	// Void names why the plan record cannot be used (a reason constant), with
	// detail; such a request is listed, and never approvable.
	Void, Detail string

	record    state.Record
	decisions []approval.Decision // as read, before counting
	foreign   map[int]bool        // audit entries of the scope, by number, that have nothing to do with it
}

// Verdict is the gate's answer.
type Verdict struct {
	Decision     string // state.Verdict…
	Reasons      []policy.Reason
	Requirements []Need
}

// Need is a requirement with how many approvals it has.
type Need struct {
	policy.Requirement
	Met int
}

// Result is what a gate run found out.
type Result struct {
	Plan          *plan.Plan
	Judgement     policy.Judgement
	PolicyVersion int
	Verdict       Verdict
	Enforced      bool
	Request       *Request // nil where nothing was recorded
	Resumed       bool
	Stale         []Stale
	StaleRequest  *Request // the earlier approved request that this plan voids
	Warnings      []string
	ChainHead     string // digest of the newest audit entry
}
