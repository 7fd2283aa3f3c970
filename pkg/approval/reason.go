package approval

// Reasons why a decision does not count. They are API: never renamed. Those
// that come from reading and verifying a record are set by the gate, in
// Decision.Void.
const (
	BadRecord          = "BadRecord"          // not a decision record as this version knows it
	BadSignature       = "BadSignature"       // the signature does not verify
	WeakKey            = "WeakKey"            // the key or its hash algorithm is too weak
	NotImmutable       = "NotImmutable"       // the record could have been edited
	KeyNotEnrolled     = "KeyNotEnrolled"     // nobody enrolled the key
	KeyOfAnother       = "KeyOfAnother"       // the key belongs to another person
	KeyRevoked         = "KeyRevoked"         // the key was revoked, whenever
	KeyNotYetValid     = "KeyNotYetValid"     // enrolled after the decision was written
	KeyInDoubt         = "KeyInDoubt"         // enrolled while the admission fence may have been down
	NotOnRoster        = "NotOnRoster"        // policy asks for a roster, and the key is not on it
	RosterExpired      = "RosterExpired"      // the roster has run out
	WrongPlan          = "WrongPlan"          // about another plan
	WrongNumber        = "WrongNumber"        // about another request of this plan
	WrongCluster       = "WrongCluster"       // about another cluster
	BeforePlan         = "BeforePlan"         // older than the request it is about
	ActorMismatch      = "ActorMismatch"      // signed as one person, written by another
	NotAPerson         = "NotAPerson"         // written by a service account or a component
	GroupsNotAttested  = "GroupsNotAttested"  // relies on groups that the API server did not attest
	ClockSkew          = "ClockSkew"          // signed time and server time differ by more than five minutes
	Expired            = "Expired"            // too old, or past its own expiry
	NotAttested        = "NotAttested"        // the admission fence did not stand when it was written
	IsProposer         = "IsProposer"         // the approver proposed the change
	IsAuthor           = "IsAuthor"           // the approver is the author of the change
	AuthorUnknown      = "AuthorUnknown"      // nobody says who the author is, and policy refuses that
	ReasonMissing      = "ReasonMissing"      // policy demands a reason, as an emergency does
	TicketMissing      = "TicketMissing"      // policy demands a ticket
	NotInGroup         = "NotInGroup"         // no requirement asks for this person
	NotEmergencyMember = "NotEmergencyMember" // may not approve in an emergency
	AlreadyCounted     = "AlreadyCounted"     // this person counts already
	Revoked            = "Revoked"            // taken back by who wrote it
	RevokesNothing     = "RevokesNothing"     // the approval that it takes back is not there
	RevokesAnother     = "RevokesAnother"     // the approval that it takes back is someone else's
	OwnEmergency       = "OwnEmergency"       // reviews an emergency approval of their own
	UnknownAction      = "UnknownAction"      // neither approve, reject nor revoke
)
