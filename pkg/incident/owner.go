package incident

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// Annotations of a suspended owner.
const (
	// SuspendedBy is Flux Operator's: the person who suspended it.
	SuspendedBy = "fluxcd.controlplane.io/suspendedBy"
	// Mark names the incident that did.
	Mark = "changeward.dev/incident"
	// RequestedAt asks Flux to reconcile.
	RequestedAt = "reconcile.fluxcd.io/requestedAt"
)

// Owner is a Kustomization or HelmRelease as it is.
type Owner struct {
	Key         manifest.Key
	UID         string
	Suspended   bool
	By          string // who suspended it, as annotated
	Mark        string // id of the incident that did
	Deleting    bool
	Reconciling bool // Flux is at work on it
	Object      *unstructured.Unstructured
}

// ReadOwner reads one from its object.
func ReadOwner(key manifest.Key, object map[string]any) Owner {
	u := &unstructured.Unstructured{Object: object}
	suspended, _, _ := unstructured.NestedBool(object, "spec", "suspend")
	by := u.GetAnnotations()
	return Owner{Key: key, UID: string(u.GetUID()), Suspended: suspended, By: by[SuspendedBy], Mark: by[Mark],
		Deleting: u.GetDeletionTimestamp() != nil, Reconciling: condition(u, "Reconciling")["status"] == "True", Object: u}
}

// Record is the owner as a record has it.
func (o Owner) Record(parent bool) state.IncidentOwner {
	return state.IncidentOwner{Group: o.Key.Group, Kind: o.Key.Kind, Namespace: o.Key.Namespace, Name: o.Key.Name, UID: o.UID,
		Adopted: o.Suspended, Parent: parent}
}

func condition(u *unstructured.Unstructured, kind string) map[string]any {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, entry := range list {
		if c, _ := entry.(map[string]any); c["type"] == kind {
			return c
		}
	}
	return nil
}

// ParseName reads [KIND/[NAMESPACE/]]NAME, where the kind is kustomization (the
// default) or helmrelease.
func ParseName(text, namespace string) (manifest.Key, error) {
	parts := strings.Split(text, "/")
	kind, name := "kustomization", parts[len(parts)-1]
	if len(parts) > 1 {
		kind = strings.ToLower(parts[0])
	}
	if len(parts) == 3 {
		namespace = parts[1]
	}
	if len(parts) > 3 || name == "" || namespace == "" {
		return manifest.Key{}, fmt.Errorf("%q: want NAME, KIND/NAME or KIND/NAMESPACE/NAME", text)
	}
	switch kind {
	case "kustomization", "kustomizations", "ks":
		return manifest.Key{Group: flux.Group, Kind: "Kustomization", Namespace: namespace, Name: name}, nil
	case "helmrelease", "helmreleases", "hr":
		return manifest.Key{Group: flux.HelmGroup, Kind: "HelmRelease", Namespace: namespace, Name: name}, nil
	}
	return manifest.Key{}, fmt.Errorf("%q: Flux suspends a kustomization or a helmrelease here, not a %s", text, parts[0])
}

// Reader reads from the cluster.
type Reader interface {
	Read(ctx context.Context, key manifest.Key) (map[string]any, *plan.Failure)
	Named(ctx context.Context, key manifest.Key) ([]map[string]any, *plan.Failure)
}

// Error is why an owner cannot be used. Reason is a constant of package plan, or
// one of this package.
type Error struct {
	Key     manifest.Key
	Reason  string
	Message string
}

// Reasons of this package. They are API.
const (
	// ReasonSuspendedByOther: somebody else keeps it suspended.
	ReasonSuspendedByOther = "SuspendedByOther"
	// ReasonIncidentOpen: another incident holds it.
	ReasonIncidentOpen = "IncidentOpen"
	// ReasonUndone: something resumes it as soon as it is suspended.
	ReasonUndone = "SuspendUndone"
	// ReasonNotReady: Flux did not bring it to the revision in time.
	ReasonNotReady = "NotReady"
)

// Error names the owner and the cause.
func (e *Error) Error() string { return name(e.Key) + ": " + e.Message }

func name(key manifest.Key) string {
	return strings.ToLower(key.Kind) + "/" + key.Namespace + "/" + key.Name
}

// Observe reads an owner. The error is an *Error; for one that is not there it
// says where owners of its name are.
func Observe(ctx context.Context, reader Reader, key manifest.Key) (Owner, error) {
	object, failure := reader.Read(ctx, key)
	if failure == nil {
		return ReadOwner(key, object), nil
	}
	message := failure.Message
	switch failure.Reason {
	case plan.ReasonNotFound:
		message = "it does not exist" + elsewhere(ctx, reader, key)
	case plan.ReasonUnknownKind:
		message = "the cluster does not know its kind: is Flux installed?"
	case plan.ReasonForbidden:
		message = "you may not read it: " + message
	}
	return Owner{Key: key}, &Error{Key: key, Reason: failure.Reason, Message: message}
}

func elsewhere(ctx context.Context, reader Reader, key manifest.Key) string {
	everywhere := key
	everywhere.Namespace = ""
	found, failure := reader.Named(ctx, everywhere)
	if failure != nil || len(found) == 0 {
		return ""
	}
	var namespaces []string
	for _, object := range found {
		namespaces = append(namespaces, manifest.Object{Content: object}.Namespace())
	}
	return " in namespace " + key.Namespace + ", but in " + strings.Join(namespaces, ", ")
}
