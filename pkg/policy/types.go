package policy

import (
	"time"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// Requirement is one demand: count people of the subjects must approve.
type Requirement struct {
	Rule    string // rule that asks, RuleDefault or RuleProtected
	Who     Subjects
	Count   int
	Message string
}

// Names that stand in Rule where no rule of the policy decided. No rule may
// have them.
const (
	RuleDefault   = "default"
	RuleProtected = "protected"
)

// Reason is one sentence of a verdict, with its constant.
type Reason struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Reasons of a judgement. They are API: never renamed.
const (
	ReasonApprovalRequired = "ApprovalRequired" // a rule or the default asks for approval
	ReasonRuleDenied       = "RuleDenied"       // a deny rule, or default: deny
	ReasonRuleError        = "RuleError"        // an expression failed or cost too much
	ReasonProtected        = "Protected"        // touches changeward itself: admins must approve
	ReasonUnverified       = "Unverified"       // an allow rule matched, but the server could not check the change
	ReasonUnboundSecret    = "UnboundSecret"    // a Secret value that no hash binds
	ReasonTooManyDeletes   = "TooManyDeletes"   // above maxDeletes
	ReasonFrozen           = "Frozen"           // within a freeze
	ReasonNoApprover       = "NoApprover"       // approval is needed, but nobody is named to give it
	ReasonPolicyExpired    = "PolicyExpired"    // past the policy's expires
	ReasonPlanIncomplete   = "PlanIncomplete"   // an object could not be planned
	ReasonNotEnforced      = "NotEnforced"      // what a rule with enforce: false would do
)

// Input is what the rules see.
type Input struct {
	Plan     *plan.Plan
	Proposer state.Person
	Author   state.Person // empty: unknown
	Revision string
	Lane     string    // "gitops" or "direct"
	Now      time.Time // of the store
	// SettledHooks are the digests of the hooks in the latest allowed plan of
	// this scope: an unchanged hook is not judged again.
	SettledHooks []string
}

// ChangeJudgement says which rule judged one change, and how.
type ChangeJudgement struct {
	Rule     string // "" where no rule was asked (a settled hook)
	Decision string // allow, approval, deny, error
	Env      string
	Message  string
	// Settled: a hook that is in Input.SettledHooks.
	Settled bool
	// NotEnforced: the rule (or policy) has enforce: false.
	NotEnforced bool
}

// Judgement is what policy says of a plan, before any approval is counted.
type Judgement struct {
	// Verdict is state.VerdictAllowed, …ApprovalRequired, …Denied or …Error.
	Verdict string
	// Enforced is false when the verdict only says what would be: everything
	// that is not allowed comes from rules (or a policy) with enforce: false.
	Enforced     bool
	Reasons      []Reason
	Requirements []Requirement
	Changes      []ChangeJudgement // one per plan.Changes, same order
	Warnings     []string
}

// Explanation says how one change came to its judgement.
type Explanation struct {
	Key       manifest.Key
	Operation plan.Operation
	ChangeJudgement
	Tries []Try // every rule, in order of the policy
}

// Try is one rule asked about one change.
type Try struct {
	Rule     string
	Decision string // what the rule would decide
	Matched  bool
	Error    string // why the expression could not be evaluated
	Note     string // why a match did not decide
}

// Case is one case of a policy test.
type Case struct {
	Name   string
	Input  Input
	Expect Expect
}

// Expect is what a case expects; empty members are not compared.
type Expect struct {
	Verdict      string
	Rule         string        // a rule that judged one of the changes
	Requirements []Requirement // who and how many, in any order
	// HasRequirements tells "no requirement" from none given.
	HasRequirements bool
}

// TestResult is how one case went.
type TestResult struct {
	Name      string
	Want, Got string // the parts that were compared, as text
	OK        bool
}
