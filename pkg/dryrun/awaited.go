package dryrun

import (
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// awaited is an object that another one needs before it can be created.
type awaited struct {
	key  manifest.Key
	uses string // what the needing object does with it
}

// binds is what a binding does with its role.
const binds = "binds"

// awaitedBy reads from a refusal which object is missing: the service account,
// priority or runtime class of a Pod, the role of a binding, the namespace of
// anything. The zero value is none of these.
func awaitedBy(err error, object manifest.Object) awaited {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return awaited{}
	}
	answer := status.Status()
	switch answer.Code {
	case http.StatusNotFound:
		if answer.Details != nil && answer.Details.Kind == "namespaces" {
			return awaited{key: manifest.Key{Kind: "Namespace", Name: object.Namespace()}, uses: "lives in"}
		}
		return awaited{key: roleOf(object), uses: binds}
	case http.StatusForbidden:
		return awaitedByPod(answer, object)
	}
	return awaited{}
}

func awaitedByPod(answer metav1.Status, object manifest.Object) awaited {
	if object.Group() != "" || object.Kind() != "Pod" {
		return awaited{}
	}
	spec, _ := object.Content["spec"].(map[string]any)
	for _, need := range []struct{ text, field, group, kind, uses string }{
		{`serviceaccount "%s" not found`, "serviceAccountName", "", "ServiceAccount", "runs as"},
		{"no PriorityClass with name %s was found", "priorityClassName", "scheduling.k8s.io", "PriorityClass", "has"},
		{`RuntimeClass "%s" not found`, "runtimeClassName", "node.k8s.io", "RuntimeClass", "has"},
	} {
		name, _ := spec[need.field].(string)
		if name == "" || !strings.Contains(answer.Message, strings.ReplaceAll(need.text, "%s", name)) {
			continue
		}
		key := manifest.Key{Group: need.group, Kind: need.kind, Name: name}
		if need.kind == "ServiceAccount" {
			key.Namespace = object.Namespace()
		}
		return awaited{key: key, uses: need.uses}
	}
	return awaited{}
}

// roleOf is the role that a binding binds.
func roleOf(object manifest.Object) manifest.Key {
	const group = "rbac.authorization.k8s.io"
	if object.Group() != group || !strings.HasSuffix(object.Kind(), "RoleBinding") {
		return manifest.Key{}
	}
	ref, _ := object.Content["roleRef"].(map[string]any)
	kind, _ := ref["kind"].(string)
	name, _ := ref["name"].(string)
	key := manifest.Key{Group: group, Kind: kind, Name: name}
	if kind == "Role" {
		key.Namespace = object.Namespace()
	}
	return key
}

// await says of an object that is refused for want of another, whether that
// arrives with the set in time, or else what is missing. Who may bind any role,
// as controllers mostly may, needs none.
func (o *observer) await(need awaited, late func(manifest.Key) bool, failure *plan.Failure) (unverified string) {
	switch {
	case need == awaited{} || need.key == manifest.Key{}:
	case need.key.Kind == "Namespace" && o.arrivals.objects[need.key]:
		return "its namespace is created by this plan"
	case o.arrivals.objects[need.key] && late != nil && need.uses != binds && late(need.key):
		failure.Reason = plan.ReasonNotFound
		failure.Message = "the " + need.key.Kind + " " + need.key.Name + " that it " + need.uses +
			" is created by this plan, but the applier asks for this object first, and fails: " + failure.Message
	case o.arrivals.objects[need.key]:
		return "the " + need.key.Kind + " " + need.key.Name + " that it " + need.uses + " is created by this plan"
	case need.key.Kind != "Namespace":
		failure.Reason = plan.ReasonNotFound
		failure.Message = "the " + need.key.Kind + " " + need.key.Name + " that it " + need.uses + " does not exist: " + failure.Message
	}
	return ""
}
