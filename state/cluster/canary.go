package cluster

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/state"
)

const canaryName = "cw-plan-canary"

// canaryAnswer is the whole of the answer that the canary must get: part of it
// could be words of another policy.
const canaryAnswer = `secrets "` + canaryName + `" is forbidden: ` +
	"ValidatingAdmissionPolicy 'changeward-records' with binding 'changeward-records' denied request: " +
	"changeward.dev/actor must be your own username"

// Reasons why the canary did not prove the admission policy over records.
const (
	CanaryAdmitted       = "CanaryAdmitted"       // a false actor would be let in
	CanaryRefusedByOther = "CanaryRefusedByOther" // refused, but not by that policy with its words
	CanaryUnanswered     = "CanaryUnanswered"     // the server gave no answer about it
)

// CanaryError says why the canary proved nothing.
type CanaryError struct {
	Reason string // one of the Canary constants
	Err    error
}

func (e *CanaryError) Error() string { return e.Reason + ": " + e.Err.Error() }

// Unwrap gives the server's answer.
func (e *CanaryError) Unwrap() error { return e.Err }

// Canary sends a dry-run create of a plan Secret in the name of actor, who
// must not be the caller. It returns nil only if the admission policy over
// records refused it, in its own words; else a *CanaryError. Nothing is
// written in any case.
func (s *Store) Canary(ctx context.Context, actor string) error {
	record := state.Record{Type: state.TypePlan, Name: canaryName, Claims: state.Claims{Actor: actor}}
	_, err := s.create(ctx, record, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	var answer apierrors.APIStatus
	switch {
	case err == nil || apierrors.IsAlreadyExists(err): // storage is asked after admission
		return &CanaryError{Reason: CanaryAdmitted, Err: fmt.Errorf("a record in the name of %q would be admitted", actor)}
	case !errors.As(err, &answer):
		return &CanaryError{Reason: CanaryUnanswered, Err: err}
	case apierrors.IsForbidden(err) && answer.Status().Message == canaryAnswer:
		return nil
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		return &CanaryError{Reason: CanaryRefusedByOther, Err: err}
	}
	return &CanaryError{Reason: CanaryUnanswered, Err: err}
}
