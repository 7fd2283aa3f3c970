package install

import "slices"

// Statuses of a Check. A failed one is a promise that does not hold; a warning
// is a way around one, or something that could not be looked at.
const (
	StatusOK   = "ok"
	StatusWarn = "warn"
	StatusFail = "fail"
)

// Names of the checks.
const (
	CheckInstalled   = "installed"
	CheckVersions    = "versions"
	CheckRights      = "rights"
	CheckGateKey     = "gate-key"
	CheckDigestKey   = "digest-key"
	CheckAdmission   = "admission"
	CheckPower       = "gate-power"
	CheckSeparate    = "separation"
	CheckExpiry      = "expiry"       // of policy and roster
	CheckKeys        = "keys"         // of people
	CheckGates       = "gates"        // every gate identity, by access reviews
	CheckPeople      = "people"       // everyone whom the policy names, by access reviews
	CheckTokens      = "tokens"       // of robots
	CheckHooks       = "argocd-hooks" // a hook is a courtesy
	CheckFence       = "who-may-edit-admission"
	CheckImpersonate = "who-may-impersonate"
	CheckPurge       = "who-may-purge"
	CheckMint        = "who-may-mint-tokens"
	CheckGrant       = "who-may-grant-rights"
	CheckReadKey     = "who-may-read-the-gate-key"
)

// Reasons of a Check that is not ok, beside those of the fence and of the
// canary. They are API.
const (
	ReasonUnchecked      = "Unchecked"         // the caller may not look, or got no answer
	ReasonNotInstalled   = "NotInstalled"      // nothing, or half of an install
	ReasonRecordsBroken  = "RecordsBroken"     // the records of the install do not hold together
	ReasonNotEntitled    = "NotEntitled"       // somebody who may not has set a policy, roster or epoch
	ReasonNoRole         = "NoRole"            // the caller may do nothing
	ReasonKeyMissing     = "KeyMissing"        // a key of the install is not there
	ReasonGateKeyChanged = "GateKeyChanged"    // the gate key is not the epoch's
	ReasonBothRoles      = "BothRoles"         // separated by signatures only
	ReasonExpired        = "Expired"           // policy or roster decides nothing any more
	ReasonExpiresSoon    = "ExpiresSoon"       // policy or roster, within two weeks
	ReasonKeysInDoubt    = "KeysInDoubt"       // nothing proves whose they are
	ReasonTooManyRights  = "TooManyRights"     // a person may do more than the policy gives them
	ReasonRightsMissing  = "RightsMissing"     // the policy gives a person more than the cluster does
	ReasonTokenForever   = "TokenNeverExpires" // a token that is kept in a Secret
	ReasonTokenDies      = "TokenExpires"      // has expired, or will within two weeks
	ReasonHookCourtesy   = "HookIsACourtesy"   // Argo CD can sync without running the hook
	ReasonWayAround      = "WayAround"         // who is no admin of the policy may step around a promise
)

// Check is one answer of the doctor. Reason is a constant, "" where the check
// is ok.
type Check struct {
	Name    string `json:"name"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// Report is all answers of the doctor.
type Report struct {
	Checks []Check `json:"checks"`
}

// Failed says that a check found a fault.
func (r Report) Failed() bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Status == StatusFail })
}

// unchecked is the answer where something could not be looked at.
func unchecked(name string, err error) Check {
	return Check{name, StatusWarn, ReasonUnchecked, err.Error(), "let an admin of the cluster run the doctor"}
}
