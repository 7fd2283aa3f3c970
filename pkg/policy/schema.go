package policy

import "time"

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

// Emergency names who may break the glass.
type Emergency struct {
	Subjects
	Review time.Duration
}

// Policy is one parsed and type-checked policy. (policy.Parse makes it.)
type Policy struct{}
