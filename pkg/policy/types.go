package policy

import (
	"time"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// Subjects are people, by group or name.
type Subjects struct {
	Groups []string `json:"groups,omitempty"`
	Users  []string `json:"users,omitempty"`
}

// Requirement is one demand: count people of the subjects must approve.
type Requirement struct {
	Rule    string // rule that asks, "default" or "protected"
	Who     Subjects
	Count   int
	Message string
}

// Reason is one sentence of a verdict, with its constant.
type Reason struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Input is what the rules see.
type Input struct {
	Plan     *plan.Plan
	Proposer state.Person
	Author   state.Person // empty: unknown
	Revision string
	Lane     string    // "gitops" or "direct"
	Now      time.Time // of the store
}

// ChangeJudgement says which rule judged one change, and how.
type ChangeJudgement struct {
	Rule     string
	Decision string // allow, approval, deny, error
	Env      string
	Message  string
	// NotEnforced: the rule (or policy) has enforce: false.
	NotEnforced bool
}

// Judgement is what policy says of a plan, before any approval is counted.
type Judgement struct {
	// Verdict is state.VerdictAllowed, …ApprovalRequired, …Denied or …Error.
	Verdict      string
	Enforced     bool
	Reasons      []Reason
	Requirements []Requirement
	Changes      []ChangeJudgement // one per plan.Changes, same order
	Warnings     []string
}
