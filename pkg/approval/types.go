package approval

import (
	"time"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// Decision is one decision record, read but not yet believed. Void is the
// reason constant of a record that cannot even be read or verified.
type Decision struct {
	Record      state.Record
	Predicate   state.Decision
	Name        string // subject: c_…
	Hash        string // subject: plan hash
	Digest      string // of the stored envelope
	Fingerprint string // of the key that signed
	Void        string
	Detail      string
	// KeyOwner, KeyFrom and KeyRevoked say whose enrolled key signed; an
	// empty owner is a key that nobody enrolled.
	KeyOwner   string
	KeyFrom    time.Time
	KeyRevoked time.Time // zero: not revoked
	// KeyDoubt says why nothing proves that the key is its owner's; KeyUnlisted,
	// where policy asks for a roster, why it does not count by that: NotOnRoster
	// or RosterExpired. "" is neither.
	KeyDoubt, KeyUnlisted string
	// Logins are the forge logins that the person has enrolled.
	Logins []string
}

// Facts is what decisions are judged against.
type Facts struct {
	Now          time.Time
	ClusterUID   string
	Hash         string
	Number       int
	Created      time.Time // of the plan record
	Proposer     state.Person
	Author       state.Person // as claimed or vouched; empty: unknown
	Requirements []policy.Requirement
	Rules        policy.Approvals
	Emergency    policy.Emergency
	// Attested says why the admission fence cannot be relied on for records
	// written at a time; "" means that it can. Nil: there is no fence.
	Attested func(created time.Time) string

	timeless  bool // as if nothing expired
	reviewing bool // judge reviews, not decisions
}

// Checked is a decision with the answer whether it counts.
type Checked struct {
	Decision
	Counts bool
	Reason string // reason constant when it does not count
	// Signed and Attested tell which of the two proofs held.
	Signed, Attested bool
	Expires          time.Time // of an approval
}

// Result is what the decisions amount to.
type Result struct {
	Approved bool
	Rejected bool
	Expired  bool // approved once, but now only expired approvals are left
	// Emergency: approved, and only because of an emergency approval.
	Emergency bool
	Expires   time.Time // when Approved ends; zero unless Approved
	Met       []int     // people counted for each requirement, same order
	Checked   []Checked // same order as the decisions
}
