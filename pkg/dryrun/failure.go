package dryrun

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// fail records why an object could not be planned, or that it cannot be asked
// about yet, since what it needs arrives with the set.
func (o *observer) fail(ctx context.Context, t *target, m moment, err error, seen *plan.Observation) {
	failure := failureOf(err, t.object)
	if m.live == nil {
		if seen.Unverified = o.await(awaitedBy(err, t.object), m.treatment.Late, failure); seen.Unverified != "" {
			seen.Merged = seen.Object.Content
			return
		}
	}
	if found := conflictsOf(err); len(found) > 0 && m.live != nil {
		schema, _ := o.index.of(ctx, t.gvk) // without it, keys stand in another order
		failure.Conflicts = o.conflicts(t, m, found, schema)
		failure.Message = conflictMessage(failure.Conflicts)
		seen.Holders = holders(m.live, schema)
	}
	if failure.Reason == plan.ReasonImmutable {
		schema, _ := o.index.of(ctx, t.gvk) // without it, the field has to do
		if changes := o.immutable(t, m, failure.Message, schema); changes != "" {
			failure.Message += " (" + changes + ")"
		}
	}
	if strings.Contains(failure.Message, "field not declared in schema") && o.arrivals.kinds[t.gvk] {
		failure.Message += "; the definition of its kind is in the manifests, too: if it brings the field, apply it in a plan before this one"
	}
	seen.Failure = failure
}

// Refusal reads why the server refused a request about an object, given with
// its real values: the text about a Secret is redacted.
func Refusal(err error, object manifest.Object) *plan.Failure { return failureOf(err, object) }

// failureOf reads the server's answer. Texts about Secrets are redacted: they
// like to repeat values.
func failureOf(err error, object manifest.Object) *plan.Failure {
	var answer apierrors.APIStatus
	switch {
	case errors.As(err, &errMoving{}):
		return &plan.Failure{Reason: plan.ReasonMoving, Message: err.Error()}
	case !errors.As(err, &answer):
		return &plan.Failure{Reason: plan.ReasonUnreadable, Message: manifest.Redact(err.Error(), object.Content)}
	}
	status := answer.Status()
	failure := &plan.Failure{Reason: reasonOfStatus(status), Message: messageOf(status)}
	if manifest.IsSecret(object.Content) {
		failure.Message = manifest.Redact(status.Message, object.Content)
	}
	if replace := (errReplace{}); errors.As(err, &replace) {
		failure.Message = replace.message(failure.Message, causesOf(status))
	}
	return failure
}

func causesOf(status metav1.Status) []metav1.StatusCause {
	if status.Details == nil {
		return nil
	}
	return status.Details.Causes
}

func reasonOfStatus(status metav1.Status) string {
	if reason := reasonOfText(status.Message); reason != "" {
		return reason
	}
	switch status.Code {
	case http.StatusForbidden:
		return plan.ReasonForbidden
	case http.StatusNotFound:
		if status.Details != nil && status.Details.Kind == "namespaces" {
			return plan.ReasonNotFound
		}
		return plan.ReasonUnknownKind // the path itself is not served any more
	case http.StatusConflict:
		return plan.ReasonConflict
	case http.StatusRequestEntityTooLarge:
		return plan.ReasonTooLarge
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		return plan.ReasonInvalid
	}
	return plan.ReasonUnreadable
}

// reasonOfText knows the answers whose code says too little: 500 for a field
// that no schema has, 403 or 422 for a policy that refuses.
func reasonOfText(text string) string {
	for _, known := range [...]struct{ part, reason string }{
		{"failed calling webhook", plan.ReasonAdmission},
		{"does not support dry run", plan.ReasonAdmission},
		{" denied the request", plan.ReasonAdmission},
		{" denied request: ", plan.ReasonAdmission},
		{"failed to create typed patch object", plan.ReasonInvalid},
		{"unable to convert unstructured object", plan.ReasonInvalid},
		{"strict decoding error", plan.ReasonInvalid},
		{"may not be more than ", plan.ReasonTooLarge},
		{"field is immutable", plan.ReasonImmutable},
	} {
		if strings.Contains(text, known.part) {
			return known.reason
		}
	}
	return ""
}

// messageOf is the server's text, put together from its causes where it has
// some: shorter, and each begins with its field.
func messageOf(status metav1.Status) string {
	if status.Details == nil || len(status.Details.Causes) == 0 {
		text := strings.TrimSpace(status.Message)
		if _, after, found := strings.Cut(text, "failed to create typed patch object ("); found {
			if _, problem, found := strings.Cut(after, "): "); found {
				return problemsOf(problem)
			}
		}
		if strings.Contains(text, "is attempting to grant RBAC permissions not currently held") {
			return "privilege escalation: " + strings.ReplaceAll(text, "\n", " ")
		}
		return text
	}
	var parts []string
	for _, cause := range status.Details.Causes {
		text := withoutDump(cause.Message)
		if cause.Field != "" {
			text = cause.Field + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// problemsOf puts what does not fit a schema on one line: the server begins each
// path with a dot, and a list of several with "errors:".
func problemsOf(text string) string {
	lines := strings.Split(strings.TrimPrefix(text, "errors:\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimSpace(line), ".")
	}
	return strings.Join(lines, "; ")
}

// withoutDump cuts the value out of
//
//	Invalid value: {"metadata":…}: field is immutable
//
// unless it is short and no object: the server prints the whole template of a
// Job there, with all its environment.
func withoutDump(message string) string {
	const marker, long = "nvalid value: ", 80
	before, after, found := strings.Cut(message, marker)
	if !found {
		return message
	}
	var value json.RawMessage
	decoder := json.NewDecoder(strings.NewReader(after))
	err := decoder.Decode(&value)
	if err == nil && len(value) <= long && !strings.ContainsAny(string(value[:1]), "{[") {
		return message
	}
	rest := after
	if err == nil {
		rest = after[decoder.InputOffset():]
	} else if end := strings.LastIndex(after, ": "); end >= 0 { // some other form of a value
		rest = after[end:]
	}
	return strings.TrimSuffix(before, "I") + strings.TrimPrefix(rest, ": ")
}
