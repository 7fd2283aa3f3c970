package sign

import "fmt"

// Reasons why a signature, key or key record is refused. They are part of the
// API: shown beside the record that they void, and never renamed.
const (
	ReasonBadEnvelope       = "BadEnvelope"       // not exactly one DSSE envelope in canonical form
	ReasonBadSignature      = "BadSignature"      // unreadable, or not over these bytes
	ReasonWrongNamespace    = "WrongNamespace"    // made for another record type, or for git
	ReasonWrongHash         = "WrongHash"         // SSHSIG hash algorithm other than sha512
	ReasonWrongKeyID        = "WrongKeyID"        // keyid is not the fingerprint of the key
	ReasonWeakKey           = "WeakKey"           // key type or size not accepted
	ReasonBadKey            = "BadKey"            // public key unreadable
	ReasonBadStatement      = "BadStatement"      // signed bytes are no statement of this type
	ReasonBadPossession     = "BadPossession"     // the enrolled key did not sign its enrolment
	ReasonNotImmutable      = "NotImmutable"      // the record could have been edited
	ReasonWrongName         = "WrongName"         // stored under a name that is not its content's
	ReasonWrongCluster      = "WrongCluster"      // made for another cluster
	ReasonWrongActor        = "WrongActor"        // written by someone else than it says
	ReasonWrongTime         = "WrongTime"         // signed time too far from the server's
	ReasonKeyOfAnother      = "KeyOfAnother"      // the key belongs to another person
	ReasonKeyRevoked        = "KeyRevoked"        // a revoked key stays revoked
	ReasonDuplicateKey      = "DuplicateKey"      // enrolled already; the first record stands
	ReasonNotCountersigned  = "NotCountersigned"  // a further key without an earlier key's signature
	ReasonUnknownKey        = "UnknownKey"        // revokes a key that is not enrolled
	ReasonUnknownKeyAction  = "UnknownKeyAction"  // neither enroll nor revoke
	ReasonNotAllowedRevoker = "NotAllowedRevoker" // neither the person nor an admin
)

// Error says why a signature, key or key record is refused.
type Error struct {
	Reason string // one of the Reason constants
	Err    error
}

func (e *Error) Error() string { return e.Reason + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func fail(reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Err: fmt.Errorf(format, args...)}
}
