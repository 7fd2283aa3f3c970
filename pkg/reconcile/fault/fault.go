// Package fault says why a commit or a pull request could not be made: one
// Error with a reason, the cause, and what a person can do.
package fault

import "fmt"

// Reasons. They are API.
const (
	NoGit          = "NoGit"          // there is no git to run
	NotARepository = "NotARepository" // the folder is in no work tree, or git does not trust it
	DetachedHead   = "DetachedHead"   // the work tree is on no branch
	InProgress     = "InProgress"     // a rebase, merge, cherry-pick, revert or bisect is under way
	Dirty          = "DirtyWorkTree"  // changes that HEAD does not have
	Ignored        = "IgnoredFile"    // git ignores a file that was written
	CommitRefused  = "CommitRefused"  // a hook, a missing identity, a key that does not sign
	CommitAltered  = "CommitAltered"  // a hook put something else into the commit
	BranchForeign  = "BranchForeign"  // the branch has commits that changeward did not make, or that were changed since
	BranchInUse    = "BranchInUse"    // the branch is checked out
	BranchMoved    = "BranchMoved"    // someone moved the branch between look and write
	NoRemote       = "NoRemote"       // there is none, or several and none is the branch's
	Unpushed       = "Unpushed"       // the base has local commits that the pull request would carry along
	Behind         = "Behind"         // the remote's base changed the same files
	PushRefused    = "PushRefused"    // the server says no, for a reason of its own
	Protected      = "BranchProtected"
	Forbidden      = "ForgeForbidden"   // credentials missing, wrong, expired or without the rights
	Unreachable    = "ForgeUnreachable" // no answer, or none that makes sense
	NoToken        = "NoForgeToken"     // the forge is known, and its token is not set
	UnknownForge   = "UnknownForge"     // --forge names none that exists
	ForgeFailed    = "ForgeFailed"      // the forge refuses, for a reason of its own
	Merged         = "PullRequestMerged"
	Closed         = "PullRequestClosed"
)

// Error is a fault. Nothing was left behind in the repository or its remote,
// unless the message says so.
type Error struct {
	Reason string // one of the constants above
	Err    error
	Hint   string // what to do; may be ""
}

// Error is the cause.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes an Error of a format, as fmt.Errorf does.
func New(reason, hint, format string, args ...any) *Error {
	return &Error{Reason: reason, Err: fmt.Errorf(format, args...), Hint: hint}
}
