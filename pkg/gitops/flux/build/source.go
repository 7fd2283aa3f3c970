package build

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// sourceGroup is the API group of sources.
const sourceGroup = "source.toolkit.fluxcd.io"

// origin is what all kinds of sources have in common.
type origin struct {
	Spec struct {
		Ignore  *string          `json:"ignore"`
		Include []map[string]any `json:"include"`
		Suspend bool             `json:"suspend"`
	} `json:"spec"`
	Status struct {
		Artifact   *meta.Artifact     `json:"artifact"`
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// source names the source, for people.
func (r *run) source() string {
	ref := r.k.Spec.SourceRef
	return strings.ToLower(ref.Kind) + "/" + cmp.Or(ref.Namespace, r.k.Namespace) + "/" + ref.Name
}

// layOut brings the files of the source into the folder.
func (r *run) layOut(ctx context.Context) error {
	ref := r.k.Spec.SourceRef
	if r.request.NoForeignSources && ref.Namespace != "" && ref.Namespace != r.k.Namespace {
		return invalid("its source %s is in another namespace, which the controller's flag --no-cross-namespace-refs forbids", r.source())
	}
	found, failure := r.reader.Read(ctx, manifest.Key{Group: sourceGroup, Kind: ref.Kind, Namespace: cmp.Or(ref.Namespace, r.k.Namespace), Name: ref.Name})
	if failure != nil {
		return r.unread(failure)
	}
	var source origin
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found, &source); err != nil {
		return invalid("its source %s cannot be understood: %v", r.source(), err)
	}
	if r.request.Checkout != "" {
		return r.copy(source)
	}
	if err := r.ready(source); err != nil {
		return err
	}
	return r.fetch(ctx, source.Status.Artifact)
}

func (r *run) unread(failure *plan.Failure) error {
	why := "cannot be read: " + failure.Message
	switch failure.Reason {
	case plan.ReasonNotFound:
		why = "does not exist"
	case plan.ReasonForbidden:
		why = "may not be read: " + failure.Message
	}
	return &Error{Reason: failure.Reason, Message: "its source " + r.source() + " " + why}
}

// ready refuses a source without an artifact, or with one of another revision.
func (r *run) ready(source origin) error {
	ready := apimeta.FindStatusCondition(source.Status.Conditions, meta.ReadyCondition)
	why := "source-controller has not looked at it yet"
	if ready != nil {
		why = ready.Reason + ": " + ready.Message
	}
	artifact := source.Status.Artifact
	if artifact == nil {
		return &Error{Reason: plan.ReasonNotFound, Message: fmt.Sprintf("its source %s is not ready, and has no artifact: %s", r.source(), why)}
	}
	if !hasRevision(artifact.Revision, r.request.Revision) {
		message := fmt.Sprintf("its source %s is at %s, not at %s", r.source(), artifact.Revision, r.request.Revision)
		if ready != nil && ready.Status != metav1.ConditionTrue {
			message += ": " + why
		}
		return &Error{Reason: plan.ReasonNotFound, Message: message}
	}
	if ready != nil && ready.Status != metav1.ConditionTrue {
		r.result.Notes = append(r.result.Notes, fmt.Sprintf("its source %s is not ready, what it had before is planned: %s", r.source(), why))
	}
	return nil
}

// hasRevision says whether the revision of an artifact, such as
// main@sha1:abc, is the one that is wanted: the same, or the commit in it.
func hasRevision(revision, wanted string) bool {
	_, digest, found := strings.Cut(revision, "@")
	if !found {
		digest = revision
	}
	_, id, _ := strings.Cut(digest, ":")
	switch wanted {
	case "", revision, digest:
		return true
	}
	return len(wanted) >= 7 && strings.HasPrefix(id, wanted)
}
