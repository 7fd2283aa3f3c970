package dryrun

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// target is one desired object, with its real values, and where the server
// keeps it.
type target struct {
	object   manifest.Object
	gvk      schema.GroupVersionKind
	served   served
	resource dynamic.ResourceInterface // of what arrives: where an older version is kept, nil if there is none
	body     []byte
	arrives  string // why there is nothing to ask yet; "" means that there is
	taken    bool   // what a list said of it was used
}

// target finds the place of an object, or says why there is none.
func (o *observer) target(object manifest.Object) (*target, *plan.Failure) {
	gvk := gvkOf(object)
	t := &target{object: object, gvk: gvk}
	found, known := o.options.Kinds.served[gvk]
	if !known {
		return o.unserved(t)
	}
	body, err := json.Marshal(object.Content)
	if err != nil {
		return nil, &plan.Failure{Reason: plan.ReasonInvalid, Message: "the object has no JSON form"}
	}
	t.served, t.body = found, body
	t.resource = o.resource(found, object.Namespace())
	return t, nil
}

// unserved tells a kind that arrives with the set from one that nobody knows,
// and both from one that could not be looked up.
func (o *observer) unserved(t *target) (*target, *plan.Failure) {
	kinds := o.options.Kinds
	versions := kinds.Versions(t.gvk.Group, t.gvk.Kind)
	arrives := o.arrivals.kinds[t.gvk]
	switch reason := kinds.Unreadable(t.gvk.Group); {
	case reason != nil:
		return nil, &plan.Failure{Reason: plan.ReasonUnreadable, Message: fmt.Sprintf(
			"the server could not say which kinds it serves in group %s: %v", t.gvk.Group, reason)}
	case arrives && len(versions) == 0:
		t.arrives = "its kind is defined by this plan"
		return t, nil
	case arrives:
		t.arrives = fmt.Sprintf("version %s of its kind arrives with this plan", t.gvk.Version)
		older := schema.GroupVersionKind{Group: t.gvk.Group, Version: kinds.Preferred(t.gvk.Group, t.gvk.Kind), Kind: t.gvk.Kind}
		t.resource = o.resource(kinds.served[older], t.object.Namespace())
		return t, nil
	case len(versions) > 0:
		return nil, &plan.Failure{Reason: plan.ReasonUnknownKind, Message: fmt.Sprintf(
			"the server does not serve %s in version %s, but in %s", t.gvk.Kind, t.gvk.Version, strings.Join(versions, ", "))}
	}
	return nil, &plan.Failure{Reason: plan.ReasonUnknownKind, Message: fmt.Sprintf(
		"the server does not know the kind %s of %s, and no definition of it is in the manifests", t.gvk.Kind, t.gvk.GroupVersion())}
}

// arriving is what can be said of an object that the server knows no kind or no
// version for yet. One that exists in an older version would be converted, and
// nobody can say to what.
func (o *observer) arriving(ctx context.Context, t *target, seen *plan.Observation) {
	if t.resource != nil {
		live, err := t.get(ctx)
		if err != nil {
			seen.Failure = failureOf(err, t.object)
			return
		}
		if live != nil {
			seen.Failure = &plan.Failure{Reason: plan.ReasonUnknownKind, Message: t.arrives +
				", and the object exists in an older one: what becomes of it is known only when the definition has been applied, in a plan before this one"}
			return
		}
	}
	seen.Unverified, seen.Merged = t.arrives, seen.Object.Content
}

// get reads LIVE, nil where the object does not exist.
func (t *target) get(ctx context.Context) (*unstructured.Unstructured, error) {
	live, err := t.resource.Get(ctx, t.object.Name(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}

// content is what the applier sends.
func (t *target) content(treatment Treatment) map[string]any {
	if treatment.Content != nil {
		return treatment.Content
	}
	return t.object.Content
}

// sent is the object as the applier sends it in a moment.
func (t *target) sent(m moment) manifest.Object {
	out := t.object
	out.Content = t.content(m.treatment)
	return out
}

// apply asks for MERGED: what a server-side apply would leave.
func (t *target) apply(ctx context.Context, treatment Treatment, force bool) (*unstructured.Unstructured, error) {
	body := t.body
	if treatment.Content != nil {
		var err error
		if body, err = json.Marshal(treatment.Content); err != nil {
			return nil, err
		}
	}
	return t.resource.Patch(ctx, t.object.Name(), types.ApplyPatchType, body, metav1.PatchOptions{
		DryRun:          []string{metav1.DryRunAll},
		FieldManager:    treatment.Applier.Manager,
		FieldValidation: treatment.validation(),
		Force:           &force,
	})
}

// create asks for the object as a create would leave it. Its managed fields
// are those before admission, which tells what admission did.
func (t *target) create(ctx context.Context, content map[string]any, treatment Treatment) (*unstructured.Unstructured, error) {
	return t.resource.Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{
		DryRun:          []string{metav1.DryRunAll},
		FieldManager:    treatment.Applier.Manager,
		FieldValidation: treatment.validation(),
	})
}

// put asks for what an update would leave. The content names the
// resourceVersion that it is to replace.
func (t *target) put(ctx context.Context, content *unstructured.Unstructured, manager, validation string) (*unstructured.Unstructured, error) {
	return t.resource.Update(ctx, content, metav1.UpdateOptions{
		DryRun: []string{metav1.DryRunAll}, FieldManager: manager, FieldValidation: validation})
}

func gvkOf(object manifest.Object) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: object.Group(), Version: object.Version(), Kind: object.Kind()}
}
