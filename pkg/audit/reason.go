package audit

// Reasons of findings. They are API: never renamed. Records that do not hold
// carry the reason constants of pkg/sign, pkg/approval and pkg/gate.
const (
	EntryMissing        = "EntryMissing"        // numbers in the chain whose entries are gone
	EntryInvalid        = "EntryInvalid"        // an entry that cannot be read or believed
	ChainBroken         = "ChainBroken"         // an entry follows another one than it names: edited or reordered
	ChainStart          = "ChainStart"          // the chain does not start at 1, and no checkpoint says why
	TimeReversed        = "TimeReversed"        // an entry is older than the one before
	HeadMissing         = "HeadMissing"         // the expected head is not in the chain: its tail was cut
	TrustMismatch       = "TrustMismatch"       // the first policy is another than the expected one
	CheckpointUntrusted = "CheckpointUntrusted" // says that entries were archived, and is not by an admin
	PlanMissing         = "PlanMissing"         // an entry is about a plan that is gone
	PlanUnheard         = "PlanUnheard"         // a plan without an entry: the gate was killed, or the tail was cut
	PlanKeyUnknown      = "PlanKeyUnknown"      // a plan signed with a key that nobody enrolled
	PolicyUnknown       = "PolicyUnknown"       // judged by a policy version that is not there
	EpochUnknown        = "EpochUnknown"        // written in an epoch that is not there
	ApprovalMissing     = "ApprovalMissing"     // an entry counted a decision that is gone
	ApprovalInvalid     = "ApprovalInvalid"     // an entry counted a decision that does not hold
	ApprovalShort       = "ApprovalShort"       // allowed with fewer approvals than were required
	OwnApproval         = "OwnApproval"         // approved by its proposer or author
	Foreign             = "ForeignObject"       // lies among the records, and is none
	ArchiveUnfinished   = "ArchiveUnfinished"   // an archived entry that was not deleted yet
	LabelMismatch       = "LabelMismatch"       // its labels hide it from who looks for its scope or plan
	NumberSkipped       = "NumberSkipped"       // a number that was never an entry: the chain holds across it
)

// Finding is one thing that is wrong, or worth knowing.
type Finding struct {
	Reason  string // a reason constant
	Record  string // name of the record; "" for the chain as a whole
	Message string
}
