package install

// Namespaces. Records live in the first; service accounts of the second are
// gates, those of the third count as people.
const (
	Namespace          = "changeward"
	NamespaceGate      = "changeward-gate"
	NamespaceApprovers = "changeward-approvers"
)

// GateGroup is the group whose members are gates, and GateAccount the service
// account name that makes a gate in any namespace.
const (
	GateGroup   = "changeward:gate"
	GateAccount = "changeward-gate"
)

// The key Secrets in NamespaceGate and their data keys.
const (
	GateKeySecret   = "cw-gate-key"   // the gate's own signing key
	DigestKeySecret = "cw-digest-key" // HMAC key for Secret values
	DataKey         = "key"           // OpenSSH PEM of the gate key; 32 bytes of the digest key
	DataPublic      = "public"        // authorized_keys line of the gate key
)

// Roles. Propose, enroll, approve, audit and admin are about records only;
// plan holds the write verbs that a dry run needs, and is bound only to
// identities that the dry-run-only fence matches.
const (
	RolePropose = "changeward-propose" // write plans; read the digest key
	RoleEnroll  = "changeward-enroll"  // people who propose: write key records
	RoleGate    = "changeward-gate"    // read both key Secrets
	RoleApprove = "changeward-approve"
	RoleAudit   = "changeward-audit"
	RoleAdmin   = "changeward-admin"
	RoleRead    = "changeward-read" // cluster-wide: read the fence and the cluster's UID
	RolePlan    = "changeward-plan"
)

// Labels of what install makes.
const (
	labelPartOf = "app.kubernetes.io/part-of"
	partOf      = "changeward"
	labelToken  = "changeward.dev/token" // name of the service account a binding was made for
	// annotationExpires says when the newest token of a service account ends.
	annotationExpires = "changeward.dev/token-expires"
)

// Reasons why nothing can be taken as attested now, or why a plan is refused.
const (
	ReasonAdmissionMissing    = "AdmissionMissing"    // a policy or binding is not there
	ReasonAdmissionUnreadable = "AdmissionUnreadable" // not allowed to read, or no answer
	ReasonAdmissionUnknown    = "AdmissionUnknown"    // the live text is not one this version knows
	ReasonAdmissionOld        = "AdmissionOld"        // the text of an earlier version: it holds, and fences less
	ReasonAdmissionChanged    = "AdmissionChanged"    // uid or generation is not the epoch's
	ReasonEpochMissing        = "EpochMissing"        // no epoch record
	ReasonCanaryForbidden     = "CanaryForbidden"     // the caller may not send the probe
	ReasonGateTooPowerful     = "GateTooPowerful"     // a gate could take its own fence down
)
