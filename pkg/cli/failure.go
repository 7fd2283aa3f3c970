package cli

import (
	"errors"

	"github.com/changeward/changeward/pkg/render"
)

// Exit codes, the same for every verb of both binaries.
const (
	ExitOK               = 0 // allowed, or done
	ExitError            = 1 // could not decide, or wrong usage
	ExitApprovalRequired = 2
	ExitFindings         = 3 // drift, divergence, findings
	ExitDenied           = 4 // denied or rejected
)

// Reasons of failures that have none of their own. They are API.
const (
	ReasonUsage            = "Usage"            // flags or arguments
	ReasonFailed           = "Failed"           // anything without a better name
	ReasonInternal         = "Internal"         // a fault of changeward itself
	ReasonCancelled        = "Cancelled"        // interrupted
	ReasonTimeout          = "Timeout"          // --timeout has passed
	ReasonBadInput         = "BadInput"         // manifests, policies, files
	ReasonNoInstall        = "NoInstall"        // nothing is installed in this cluster
	ReasonNoKubeconfig     = "NoKubeconfig"     // no cluster is named
	ReasonUnreachable      = "Unreachable"      // no answer from the server
	ReasonUnauthorized     = "Unauthorized"     // credentials missing, wrong or expired
	ReasonForbidden        = "Forbidden"        // the server says no
	ReasonNotFound         = "NotFound"         // there is no such thing
	ReasonUnknownTarget    = "UnknownTarget"    // no such alias, nor name of the cluster
	ReasonWrongTarget      = "WrongTarget"      // flags, alias and cluster contradict each other
	ReasonExecutor         = "Executor"         // --executor: records live in the cluster
	ReasonNoKey            = "NoKey"            // no SSH key to sign with
	ReasonNotConfirmed     = "NotConfirmed"     // the answer was no, or nobody was there to ask
	ReasonApprovalRequired = "ApprovalRequired" // the gate waits for people
	ReasonDenied           = "Denied"           // policy denies, or a person rejected
	ReasonIncomplete       = "PlanIncomplete"   // an object could not be planned
	ReasonFindings         = "Findings"         // something was found
	ReasonNotDirect        = "NotDirect"        // a change that changeward has not applied
	ReasonNotReconciled    = "NotReconciled"    // not all of a change can be brought in line
	ReasonNotSyncing       = "NotSyncing"       // no sync is under way, or none that can be gated
	ReasonOtherSource      = "OtherSource"      // what would be rendered is not what is applied
)

// Failure is an error with its exit code, reason and advice.
type Failure struct {
	Code   int // 0 stands for ExitError
	Reason string
	Err    error
	Hints  []string
	// Problems are the single things wrong, for the JSON document.
	Problems []render.Problem
	// LastWords are what the status of a Pod says of it; "" is the error.
	LastWords string
	// Reported says that the verb has printed its result already, so that
	// stdout must not get another document.
	Reported bool
}

// Error is the message alone.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap is the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Fail makes a failure of exit code 1.
func Fail(reason string, err error, hints ...string) *Failure {
	return &Failure{Code: ExitError, Reason: reason, Err: err, Hints: hints}
}

// Usage is a failure of flags or arguments.
func Usage(message string, hints ...string) *Failure {
	return Fail(ReasonUsage, errors.New(message), hints...)
}

// Messages are the single errors of a joined one, in order.
func messages(err error) []string {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) || err.Error() != errors.Join(joined.Unwrap()...).Error() {
		return []string{err.Error()}
	}
	var all []string
	for _, part := range joined.Unwrap() {
		all = append(all, messages(part)...)
	}
	return all
}
