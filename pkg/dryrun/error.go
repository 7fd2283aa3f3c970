package dryrun

import (
	"context"
	"errors"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Reasons of an Error.
const (
	Unreachable  = "Unreachable"  // no answer from the server
	Unauthorized = "Unauthorized" // the credentials are missing, wrong or expired
	Forbidden    = "Forbidden"    // the server knows the caller, and says no
	Cancelled    = "Cancelled"    // the context ended first
	ServerError  = "ServerError"  // the server answered, but not with what was asked for
)

// Error is why the server could not be asked at all. Reason is one of the
// constants above; Doing says what was tried.
type Error struct {
	Reason, Doing string
	Err           error
}

// Error says what was tried, and why it failed.
func (e *Error) Error() string {
	switch e.Reason {
	case Unreachable:
		return e.Doing + ": the server cannot be reached: " + e.Err.Error()
	case Unauthorized:
		return e.Doing + ": the credentials are not accepted, perhaps expired: " + e.Err.Error()
	}
	return e.Doing + ": " + e.Err.Error()
}

// Unwrap is the error underneath.
func (e *Error) Unwrap() error { return e.Err }

func wrap(doing string, err error) error {
	return &Error{Reason: reasonOf(err), Doing: doing, Err: err}
}

func reasonOf(err error) string {
	var transport *url.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Cancelled
	case apierrors.IsUnauthorized(err):
		return Unauthorized
	case apierrors.IsForbidden(err):
		return Forbidden
	case errors.As(err, &transport):
		// Errors of credential plugins have no type; this is how they start.
		if strings.Contains(err.Error(), "getting credentials: ") {
			return Unauthorized
		}
		return Unreachable
	}
	return ServerError
}
