package cli

import (
	"context"
	"errors"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/manifest/git"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/reconcile/fault"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// Explain gives an error its reason, exit code and hints. A Failure keeps what
// it says itself.
func Explain(err error, program string) *Failure {
	var failure *Failure
	if errors.As(err, &failure) {
		if failure.Reason == "" {
			failure.Reason = ReasonFailed
		}
		kept := *failure
		kept.Err = err
		if bare, ok := err.(*Failure); ok {
			kept.Err = bare.Err
		}
		return &kept
	}
	reason, hints := classify(err, program)
	return Fail(reason, err, hints...)
}

func classify(err error, program string) (reason string, hints []string) {
	if reason, hints, known := classifyTyped(err, program); known {
		return reason, hints
	}
	var transport *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return ReasonCancelled, nil
	case errors.Is(err, context.DeadlineExceeded):
		return ReasonTimeout, nil
	case errors.Is(err, state.ErrNoStore):
		return ReasonNoInstall, []string{
			"changeward is not installed in this cluster: an admin does that with `" + program + " install`",
			"wrong cluster? choose another with --target or --context; `" + program + " plan` works without an install"}
	case errors.Is(err, state.ErrForbidden), apierrors.IsForbidden(err):
		return ReasonForbidden, []string{
			"who may do what is in the policy: `" + program + " policy show`; `" + program + " doctor` says what you lack",
			"an admin gives you a role by naming you in the policy"}
	case apierrors.IsUnauthorized(err), strings.Contains(err.Error(), "getting credentials: "):
		return ReasonUnauthorized, []string{"log in again: the credentials of this kubeconfig context are not accepted"}
	case errors.Is(err, state.ErrNotFound), apierrors.IsNotFound(err):
		return ReasonNotFound, nil
	case errors.Is(err, sign.ErrNoKey):
		return ReasonNoKey, []string{"make one with `" + program + " signer create`, or name yours with --key"}
	case errors.As(err, new(*sign.SeveralKeysError)):
		return ReasonNoKey, []string{"name the one to use with --key or CHANGEWARD_KEY"}
	case errors.As(err, &transport):
		return ReasonUnreachable, []string{"is this the right cluster, and is the network up? `kubectl cluster-info` asks the same server"}
	}
	return ReasonFailed, nil
}

// classifyTyped reads errors that carry a reason constant of their own.
func classifyTyped(err error, program string) (reason string, hints []string, known bool) {
	var published *fault.Error // before the name of its package is taken
	var fault *gate.Fault
	var unheard *dryrun.Error
	var key *sign.Error
	var problems policy.Problems
	var owner *gitops.Error
	var empty *gitops.EmptyError
	var repository *git.Error
	switch {
	case errors.As(err, &published):
		var hints []string
		if published.Hint != "" {
			hints = []string{published.Hint}
		}
		return published.Reason, hints, true
	case errors.As(err, &repository):
		return repository.Reason, nil, true
	case errors.As(err, &owner):
		return owner.Reason, nil, true
	case errors.As(err, &empty):
		return ReasonBadInput, []string{"was the input rendered, and are the file names right? if all of it is to go, say --allow-empty"}, true
	case errors.As(err, &fault):
		return fault.Reason, faultHints(fault.Reason, program), true
	case errors.As(err, &unheard) && unheard.Reason != dryrun.ServerError:
		_, hints := classify(unheard.Err, program)
		return unheard.Reason, hints, true
	case errors.As(err, &key):
		return key.Reason, nil, true
	case errors.As(err, &problems):
		return ReasonBadInput, nil, true
	}
	return "", nil, false
}

func faultHints(reason, program string) []string {
	switch reason {
	case gate.ReasonNotFound, gate.ReasonAmbiguous:
		return []string{"`" + program + " list` shows all change requests"}
	case approval.NotInGroup, approval.NotEmergencyMember, approval.IsProposer, approval.IsAuthor:
		return []string{"who may do what is in the policy: `" + program + " policy show`"}
	case gate.ReasonNoPolicy, gate.ReasonPolicyUnreadable, gate.ReasonEpochUnreadable:
		return []string{"`" + program + " doctor` says what is wrong with the install"}
	case gate.ReasonRosterUnvouched:
		return []string{"an admin reads it with `" + program + " signer roster show` and sets it with `" + program + " signer roster set`"}
	case approval.NotOnRoster, approval.RosterExpired:
		return []string{"an admin lists the key with `" + program + " signer roster set`"}
	case gate.ReasonPolicyUnvouched, gate.ReasonPolicyMissing:
		return []string{"an admin reads it with `" + program + " policy show` and sets it, or a better one, with `" + program + " policy set`"}
	case gate.ReasonUnattestable:
		return []string{"run the gate again; if it stays so, `" + program + " doctor` says what is missing"}
	case approval.ReasonMissing:
		return []string{"say why with --reason"}
	case approval.TicketMissing:
		return []string{"name the ticket with --ticket"}
	}
	return nil
}
