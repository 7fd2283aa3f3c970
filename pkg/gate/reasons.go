package gate

// Reason constants of verdicts and faults. They are API: documented, never
// renamed.
const (
	// ReasonApprovalMissing: policy asks for approvals that are not there yet.
	ReasonApprovalMissing = "ApprovalMissing"
	// ReasonApproved: enough counting approvals.
	ReasonApproved = "Approved"
	// ReasonResumed: what is left of a plan that has enough of them.
	ReasonResumed = "Resumed"
	// ReasonApprovalExpired: there were enough, but they have expired.
	ReasonApprovalExpired = "ApprovalExpired"
	// ReasonApprovalSpent: the approval was used up.
	ReasonApprovalSpent = "ApprovalSpent"
	// ReasonRejected: an eligible person rejected the request.
	ReasonRejected = "Rejected"
	// ReasonIncomplete: an object could not be planned.
	ReasonIncomplete = "PlanIncomplete"
	// ReasonRevisionUnknown: policy wants approvals of one revision.
	ReasonRevisionUnknown = "RevisionUnknown"
	// ReasonUnchanged: the plan is empty.
	ReasonUnchanged = "NothingToChange"
	// ReasonNoAdmission: no admission fence where these records are kept.
	ReasonNoAdmission = "NoAdmission"
	// ReasonUnattestable: policy wants approvals attested, and whether the
	// admission fence stands could not be found out.
	ReasonUnattestable = "Unattestable"
	// ReasonBeforeEpoch: written before the admission fence stood as it does.
	ReasonBeforeEpoch = "BeforeEpoch"
	// ReasonNoPolicy: nothing is set yet.
	ReasonNoPolicy = "NoPolicy"
	// ReasonPolicyUnreadable: the chain of policy versions does not hold.
	ReasonPolicyUnreadable = "PolicyUnreadable"
	// ReasonPolicyUnvouched: nothing proves that an admin set the policy.
	ReasonPolicyUnvouched = "PolicyUnvouched"
	// ReasonPolicyMissing: a gate has judged by a version that is not there.
	ReasonPolicyMissing = "PolicyMissing"
	// ReasonRosterUnvouched: nothing proves that an admin set the roster.
	ReasonRosterUnvouched = "RosterUnvouched"
	// ReasonEpochUnreadable: the chain of epochs does not hold.
	ReasonEpochUnreadable = "EpochUnreadable"
	// ReasonRosterUnreadable: the chain of rosters does not hold.
	ReasonRosterUnreadable = "RosterUnreadable"
	// ReasonRecordInvalid: a plan record that cannot be read or was changed.
	ReasonRecordInvalid = "RecordInvalid"
	// ReasonNotFound: no such change request.
	ReasonNotFound = "NotFound"
	// ReasonOtherRequest: the plan is not that of the request that was named.
	ReasonOtherRequest = "OtherRequest"
	// ReasonAmbiguous: an id that fits several change requests.
	ReasonAmbiguous = "Ambiguous"
	// ReasonNotEligible: the caller's decision would not count.
	ReasonNotEligible = "NotEligible"
	// ReasonContended: other gates kept taking the number.
	ReasonContended = "Contended"
	// ReasonClusterMismatch: the plan was made for another cluster than the
	// records.
	ReasonClusterMismatch = "ClusterMismatch"
)

// Fault is an error with a reason constant.
type Fault struct {
	Reason  string
	Message string
}

// Error is the message alone; the reason is for machines.
func (f *Fault) Error() string { return f.Message }
