package plan

// Reasons why an object could not be planned. They are API: in JSON output, in
// tests, and never renamed.
const (
	// ReasonConflict: another manager holds a field; see Failure.Conflicts.
	ReasonConflict = "Conflict"
	// ReasonForbidden: the server knows the caller, and says no.
	ReasonForbidden = "Forbidden"
	// ReasonInvalid: the server refuses the object as it is written.
	ReasonInvalid = "Invalid"
	// ReasonImmutable: a field differs that cannot be changed.
	ReasonImmutable = "Immutable"
	// ReasonNotFound: something that the object needs does not exist, such as
	// its namespace.
	ReasonNotFound = "NotFound"
	// ReasonUnknownKind: the server does not know the kind.
	ReasonUnknownKind = "UnknownKind"
	// ReasonAdmission: an admission plugin, policy or webhook refuses, or is
	// down.
	ReasonAdmission = "Admission"
	// ReasonTooLarge: the object is larger than the server takes.
	ReasonTooLarge = "TooLarge"
	// ReasonMoving: others kept writing the object, so that LIVE and MERGED
	// could not be read of one moment.
	ReasonMoving = "Moving"
	// ReasonRandom: two dry runs in a row gave fields that the other lacked, so
	// that there is nothing to bind.
	ReasonRandom = "Random"
	// ReasonUnreadable: no answer, or none that can be understood.
	ReasonUnreadable = "Unreadable"
	// ReasonGuarded: an object that the manifests still want would be deleted
	// under another name of its kind.
	ReasonGuarded = "Guarded"
	// ReasonUnaccounted: LIVE and MERGED differ in something that no
	// transition accounts for.
	ReasonUnaccounted = "Unaccounted"
)
