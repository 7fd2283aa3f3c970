package state

// The predicates: what the signed statement of each record type says. Times
// are RFC 3339 in UTC, from the API server's clock. Readers take exactly these
// members; a new meaning is a new predicate version.

// Person is who acts: a username and the groups of theirs that matter.
type Person struct {
	Groups   []string `json:"groups,omitempty"`
	Username string   `json:"username"`
}

// Author is the person behind a change as the forge states it. Claimed says
// that nobody vouches for the name (a CI variable or a commit).
type Author struct {
	Claimed bool   `json:"claimed,omitempty"`
	Name    string `json:"name"`
}

// Plan is the signed header of a plan record; the subject is the request and
// the plan hash. The plan itself is in DataPlan, bound by that hash.
type Plan struct {
	Author      *Author  `json:"author,omitempty"`
	Before      string   `json:"before,omitempty"` // digest of the uncompressed before-state
	BeforeParts []string `json:"beforeParts,omitempty"`
	CI          string   `json:"ci,omitempty"` // link to the run
	ClusterUID  string   `json:"clusterUID"`
	Number      int      `json:"number"`
	Parts       []string `json:"parts,omitempty"` // digests of the chunks of DataPlan, in order
	Proposer    Person   `json:"proposer"`
	Reason      string   `json:"reason,omitempty"`
	Revision    string   `json:"revision,omitempty"` // Git revision of the manifests
	Scope       string   `json:"scope"`
	Server      string   `json:"server,omitempty"`  // version of the API server that was asked
	Sources     []string `json:"sources,omitempty"` // inputs as given
	Target      string   `json:"target,omitempty"`
	Ticket      string   `json:"ticket,omitempty"`
	Time        string   `json:"time"`
}

// Actions of a decision.
const (
	ActionApprove = "approve"
	ActionReject  = "reject"
	ActionRevoke  = "revoke"
)

// Decision is a person's signed answer to one plan hash; the subject is the
// request and the plan hash.
type Decision struct {
	Action     string `json:"action"`
	ClusterUID string `json:"clusterUID"`
	Emergency  bool   `json:"emergency,omitempty"`
	Expires    string `json:"expires,omitempty"`
	Number     int    `json:"number"`
	Person     Person `json:"person"`
	Reason     string `json:"reason,omitempty"`
	Revokes    string `json:"revokes,omitempty"` // name of the decision record taken back
	Ticket     string `json:"ticket,omitempty"`
	Time       string `json:"time"`
}

// Actions of a key record.
const (
	KeyEnroll = "enroll"
	KeyRevoke = "revoke"
)

// Key enrolls or revokes a person's public key. Possession is a signature by
// the key itself, as KeyPossession says; the envelope is signed by the key
// itself (a person's first key) or by one already enrolled.
type Key struct {
	Action     string   `json:"action"`
	ClusterUID string   `json:"clusterUID"`
	Logins     []string `json:"logins,omitempty"` // forge logins of the person
	Person     Person   `json:"person"`
	Possession []byte   `json:"possession,omitempty"` // binary SSHSIG
	PublicKey  string   `json:"publicKey"`            // authorized_keys form without comment
	Reason     string   `json:"reason,omitempty"`
	Time       string   `json:"time"`
}

// KeyPossession is the SSHSIG namespace of a proof of possession; it signs
// canonical([cluster UID, username, public key]).
const KeyPossession = "key-possession@changeward.dev"

// Policy is one version of the policy. Source is the YAML text as it was set;
// it is what is parsed.
type Policy struct {
	Actor      Person `json:"actor"`
	ClusterUID string `json:"clusterUID"`
	Previous   string `json:"previous,omitempty"` // digest of the envelope of the version before
	Source     string `json:"source"`
	Time       string `json:"time"`
	Version    int    `json:"version"`
}

// RosterKey is one key of one person on a roster.
type RosterKey struct {
	Logins    []string `json:"logins,omitempty"` // forge logins of the person
	Person    string   `json:"person"`           // username
	PublicKey string   `json:"publicKey"`        // authorized_keys form without comment
}

// Roster is one version of the list of keys that count, where policy says
// enrollment: roster.
type Roster struct {
	Actor      Person      `json:"actor"`
	ClusterUID string      `json:"clusterUID"`
	Expires    string      `json:"expires,omitempty"`
	Keys       []RosterKey `json:"keys"`
	Previous   string      `json:"previous,omitempty"` // digest of the envelope of the version before
	Time       string      `json:"time"`
	Version    int         `json:"version"`
}

// Review says that a person has looked at a change that was approved in an
// emergency; the subject is the request and the plan hash.
type Review struct {
	ClusterUID string `json:"clusterUID"`
	Number     int    `json:"number"`
	Person     Person `json:"person"`
	Reason     string `json:"reason"`
	Time       string `json:"time"`
}

// AdmissionObject is an admission policy or binding as an epoch knew it.
type AdmissionObject struct {
	Generation int64  `json:"generation"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
}

// Epoch says from when on which admission text was in force, with which gate
// key, and which further users and groups are gates.
type Epoch struct {
	Actor      Person            `json:"actor"`
	Admission  int               `json:"admission"` // version of the admission text
	ClusterUID string            `json:"clusterUID"`
	GateGroups []string          `json:"gateGroups,omitempty"`
	GateKey    string            `json:"gateKey"` // public half, authorized_keys form
	GateUsers  []string          `json:"gateUsers,omitempty"`
	Objects    []AdmissionObject `json:"objects"`
	Previous   string            `json:"previous,omitempty"`
	Time       string            `json:"time"`
	Version    int               `json:"version"`
}

// Requirement is one demand of policy as it was recorded.
type Requirement struct {
	Count  int      `json:"count"`
	Groups []string `json:"groups,omitempty"`
	Met    int      `json:"met"`
	Rule   string   `json:"rule"`
	Users  []string `json:"users,omitempty"`
}

// Verdicts, as recorded and as printed.
const (
	VerdictAllowed          = "allowed"
	VerdictApprovalRequired = "approval-required"
	VerdictDenied           = "denied"
	VerdictError            = "error"
	// VerdictArchived is that of a checkpoint, see Archive.
	VerdictArchived = "archived"
)

// Audit is one entry of the chain: a decision of the gate that differs from
// the one before.
type Audit struct {
	Actor         Person        `json:"actor"`
	Archive       *Archive      `json:"archive,omitempty"` // of a checkpoint only
	Auto          bool          `json:"auto,omitempty"`    // allowed by policy alone
	ClusterUID    string        `json:"clusterUID"`
	Decisions     []string      `json:"decisions,omitempty"` // digests of the counted decision envelopes
	Epoch         int           `json:"epoch"`
	NotEnforced   bool          `json:"notEnforced,omitempty"`
	Number        int           `json:"number"` // of the entry
	PlanHash      string        `json:"planHash"`
	PolicyVersion int           `json:"policyVersion"`
	Previous      string        `json:"previous,omitempty"` // digest of the envelope of the entry before
	Reason        string        `json:"reason,omitempty"`   // reason constant of the verdict
	Request       int           `json:"request"`            // number of the plan
	Requirements  []Requirement `json:"requirements,omitempty"`
	Scope         string        `json:"scope"`
	Time          string        `json:"time"`
	Verdict       string        `json:"verdict"`
}

// Archive is what a checkpoint says: older records were deleted, and lie in a
// bundle. The chain goes on: the checkpoint's own number and Previous are the
// newest audit number and the chain head; a checkpoint has neither plan hash
// nor request.
type Archive struct {
	Bundle string  `json:"bundle"` // digest of the file
	Plan   int     `json:"plan"`   // newest plan number; numbers go on from it
	Ranges []Range `json:"ranges"` // archived entries by now, oldest first
}

// Range is consecutive audit entries. Head is the digest of the envelope of the
// last one, which the entry behind it names as its Previous.
type Range struct {
	First int    `json:"first"`
	Head  string `json:"head"`
	Last  int    `json:"last"`
}
