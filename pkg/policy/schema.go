package policy

import "time"

// Decisions of a rule, and of the policy's default.
const (
	Allow    = "allow"
	Approval = "approval"
	Deny     = "deny"
	// Errored is the decision on a change whose rules could not be evaluated.
	Errored = "error"
)

// Values of keys that take one word.
const (
	IdentityBoth     = "both"
	IdentitySigned   = "signed"
	IdentityAttested = "attested"

	EnrollmentAttested = "attested"
	EnrollmentRoster   = "roster"

	AuthorShow   = "show"
	AuthorRefuse = "refuse"

	StalenessFields = "fields"
	StalenessObject = "object"
)

// Approvals says how approvals count.
type Approvals struct {
	ExpireAfter   time.Duration // default 72h
	NotProposer   bool          // default true
	UnknownAuthor string        // show (default) or refuse
	Identity      string        // both (default), signed, attested
	Enrollment    string        // attested (default) or roster
	RequireReason bool
	RequireTicket bool
}

// Emergency names who may break the glass. Nobody may where it is empty.
type Emergency struct {
	Subjects
	Review time.Duration // within which another person reviews; default 72h
}

// Admins are asked for changes of risk "protected".
type Admins struct {
	Subjects
	Count int // people who must approve a protected change; default 1
}

// Freeze is a time in which nothing changes, but by those excepted.
type Freeze struct {
	Name     string
	From, To time.Time
	Except   Subjects
}

// MaxDeletes caps what one plan may delete; a plan above it is denied. Zero
// values do not limit.
type MaxDeletes struct {
	Count int     // deletes in one plan
	Share float64 // of all objects of the plan, unchanged ones too: 0 < share ≤ 1
	// HasCount tells a count of 0 (no deletes at all) from none given.
	HasCount bool
}

// EnvRule gives namespaces another environment than the policy's.
type EnvRule struct {
	Env        string
	Namespaces []string // globs
}

// Rule is one rule: an expression and what it decides.
type Rule struct {
	Name      string
	Match     string // CEL
	Decision  string // allow, approval or deny
	Approvers []Requirement
	Reason    string
	Enforce   bool
	Line      int

	program program
}

// Policy is one parsed and type-checked policy. Parse makes it; it is never
// changed afterwards and may be used from several goroutines.
type Policy struct {
	ClusterName string
	Aliases     []string
	Env         string
	Envs        []EnvRule
	Enforce     bool
	Proposers   Subjects
	Auditors    Subjects
	Admins      Admins
	Rules       []Rule
	Default     string // allow, approval or deny
	Approvals   Approvals
	Emergency   Emergency
	Freezes     []Freeze
	Staleness   string // fields or object
	// SameRevision demands a new approval for each Git revision.
	SameRevision bool
	// IgnorePaths are field paths that a plan leaves out.
	IgnorePaths         []string
	MaxDeletes          MaxDeletes
	AllowUnverified     bool
	AllowUnboundSecrets bool
	Expires             time.Time // zero: never
}
