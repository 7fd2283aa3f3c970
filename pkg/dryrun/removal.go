package dryrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Departed is an object that left the manifests, as its owner lists it.
type Departed struct {
	Key     manifest.Key
	Version string // in which the owner had it
	Source  manifest.Source
}

// Fate is what an owner does with a live object that left its manifests.
type Fate struct {
	Keep   string            // why it stays; "" means that it is deleted
	Refuse string            // why the delete cannot be planned
	Guards map[string]string // what in the live object decides that
	Notes  []string
}

// DeleteOptions is how to observe deletes. Kinds, Masker and Judge are
// required.
type DeleteOptions struct {
	Kinds   *Kinds
	Masker  manifest.Masker
	Applier plan.Applier // who deletes; its manager applied the object
	// Propagation of the deletes: background, foreground or orphan.
	Propagation string
	// Judge decides over a live object, which is not to be changed.
	Judge func(live map[string]any) Fate
	// Concurrency is the number of objects observed at once; 0 means 16.
	Concurrency int
}

func (o DeleteOptions) check() error {
	var problems []error
	if o.Kinds == nil {
		problems = append(problems, errors.New("observe deletes: no kinds"))
	}
	if len(o.Masker.Key) == 0 {
		problems = append(problems, errors.New("observe deletes: no key to mask with"))
	}
	if o.Judge == nil {
		problems = append(problems, errors.New("observe deletes: nobody decides"))
	}
	return errors.Join(problems...)
}

// ObserveDeletes asks the server what deleting objects would take away: each
// delete is dry-run, against the UID that was read. It answers in the order of
// departed. An object of a kind that the server does not serve is a Failure:
// whether it is gone is not known. An error is as that of Observe.
func (c *Client) ObserveDeletes(ctx context.Context, departed []Departed, options DeleteOptions) ([]plan.Removal, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	if options.Concurrency <= 0 {
		options.Concurrency = defaultConcurrency
	}
	r := &remover{options: options, observer: &observer{client: c, index: &schemaIndex{schemas: c.schemas},
		options: ObserveOptions{Kinds: options.Kinds, Masker: options.Masker, Concurrency: options.Concurrency}}}
	seen := make([]plan.Removal, len(departed))
	group := errgroup.Group{}
	group.SetLimit(options.Concurrency)
	for i, object := range departed {
		group.Go(func() error { return c.pace.do(ctx, func() { seen[i] = r.remove(ctx, object) }) })
	}
	if err := group.Wait(); err != nil {
		return nil, wrap("observe the deletes", err)
	}
	return seen, nil
}

// remover is one call of ObserveDeletes.
type remover struct {
	*observer
	options DeleteOptions
}

func (r *remover) remove(ctx context.Context, departed Departed) plan.Removal {
	said := &warnings{}
	ctx = withWarnings(ctx, said)
	seen := plan.Removal{Key: departed.Key, Version: departed.Version, Source: departed.Source, Applier: r.options.Applier}
	t, failure := r.place(departed)
	if failure == nil {
		seen.Version, seen.StatusSubresource = t.gvk.Version, t.served.status
		failure = r.ask(ctx, t, &seen)
	}
	seen.Failure = failure
	for _, text := range said.sorted() {
		seen.Warnings = append(seen.Warnings, manifest.Redact(text, t.object.Content))
	}
	return seen
}

// place is where the server keeps an object, in the owner's version, or in
// another if that is not served any more.
func (r *remover) place(departed Departed) (*target, *plan.Failure) {
	kinds, key := r.options.Kinds, departed.Key
	gvk := schema.GroupVersionKind{Group: key.Group, Version: departed.Version, Kind: key.Kind}
	if _, served := kinds.served[gvk]; !served {
		gvk.Version = kinds.Preferred(key.Group, key.Kind)
	}
	content := map[string]any{"apiVersion": gvk.GroupVersion().String(), "kind": key.Kind,
		"metadata": map[string]any{"name": key.Name, "namespace": key.Namespace}}
	t := &target{object: manifest.Object{Content: content, Source: departed.Source}, gvk: gvk}
	found, served := kinds.served[gvk]
	switch {
	case served && found.namespaced && key.Namespace == "":
		return t, &plan.Failure{Reason: plan.ReasonInvalid, Message: "its owner lists it without a namespace, and its kind has one"}
	case served:
		t.served, t.resource = found, r.resource(found, key.Namespace)
		return t, nil
	case kinds.Unreadable(key.Group) != nil:
		return t, &plan.Failure{Reason: plan.ReasonUnreadable, Message: fmt.Sprintf(
			"the server could not say which kinds it serves in group %s, so whether the object is still there is not known: %v", key.Group, kinds.Unreadable(key.Group))}
	}
	return t, &plan.Failure{Reason: plan.ReasonUnknownKind, Message: fmt.Sprintf(
		"the server does not know the kind %s in group %q, so whether the object is still there is not known", key.Kind, key.Group)}
}

// ask reads LIVE, lets the owner decide, and dry-runs the delete. An object
// that is replaced by another one meanwhile is looked at again.
func (r *remover) ask(ctx context.Context, t *target, seen *plan.Removal) *plan.Failure {
	for range attempts {
		live, err := t.get(ctx)
		if err != nil {
			return failureOf(err, t.object)
		}
		if live == nil {
			return nil
		}
		seen.Live = r.maskOf(t, moment{live: live})(bare(live, t))
		fate := r.options.Judge(seen.Live)
		seen.Kept, seen.Notes = fate.Keep, fate.Notes
		if live.GetDeletionTimestamp() != nil {
			seen.Kept = "it is being deleted already"
		}
		switch {
		case seen.Kept != "":
			return nil
		case fate.Refuse != "":
			return &plan.Failure{Reason: plan.ReasonGuarded, Message: fate.Refuse}
		}
		gone, err := r.dryRunDelete(ctx, t, live, seen)
		if err != nil {
			return failureOf(err, t.object)
		}
		if !gone {
			return r.bind(ctx, t, live, fate, seen)
		}
	}
	return &plan.Failure{Reason: plan.ReasonMoving, Message: errMoving{}.Error()}
}

// dryRunDelete says gone where the object that was read is not there any more.
func (r *remover) dryRunDelete(ctx context.Context, t *target, live *unstructured.Unstructured, seen *plan.Removal) (gone bool, err error) {
	why, err := r.readOnly(ctx, t.gvk)
	if err != nil {
		return false, err
	}
	if why != "" {
		seen.Unverified = why
		return false, nil
	}
	uid := live.GetUID()
	propagation := metav1.DeletionPropagation(strings.ToUpper(r.options.Propagation[:1]) + r.options.Propagation[1:])
	err = t.resource.Delete(ctx, t.object.Name(), metav1.DeleteOptions{
		DryRun: []string{metav1.DryRunAll}, PropagationPolicy: &propagation, Preconditions: &metav1.Preconditions{UID: &uid}})
	switch {
	case isExempt(t.gvk.GroupKind()) && apierrors.IsForbidden(err):
		seen.Unverified = unguarded
		return false, nil
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return true, nil
	}
	return false, err
}

// bind fills in what the delete takes away.
func (r *remover) bind(ctx context.Context, t *target, live *unstructured.Unstructured, fate Fate, seen *plan.Removal) *plan.Failure {
	published, err := r.index.published(ctx, t.gvk)
	if err != nil {
		return failureOf(err, t.object)
	}
	applied, err := r.applied(t, live, published)
	if err != nil {
		return failureOf(err, t.object)
	}
	seen.Deletion = plan.Deletion{Propagation: r.options.Propagation, Guards: fate.Guards, Fields: applied}
	if len(applied) == 0 {
		seen.Deletion.Fields = nil
	}
	dying, err := r.dependents(ctx, t, live)
	if err != nil {
		failure := failureOf(err, t.object)
		failure.Message = "what would be deleted with it is not known: " + failure.Message
		return failure
	}
	dying.fill(&seen.Deletion)
	return nil
}

// applied are the values that the deleting owner itself applied, masked: all
// others may write what they like, and the delete stays the same. Replicas are
// left out where an autoscaler can take them over.
func (r *remover) applied(t *target, live *unstructured.Unstructured, s *diff.Schema) (map[string]any, error) {
	values, err := valuesOf(live, r.options.Applier.Manager, s)
	if err != nil {
		return nil, err
	}
	own := maps.Clone(values)
	own["apiVersion"], own["kind"] = live.GetAPIVersion(), live.GetKind()
	metadata, _ := values["metadata"].(map[string]any)
	own["metadata"] = maps.Clone(metadata)
	if metadata == nil {
		own["metadata"] = map[string]any{}
	}
	place, _ := own["metadata"].(map[string]any)
	place["name"], place["namespace"] = live.GetName(), live.GetNamespace()
	out := diff.Clean(r.mask(t.object.Key(), own, live.Object), t.served.status)
	place, _ = out["metadata"].(map[string]any)
	for _, key := range []string{"name", "namespace"} {
		delete(place, key)
	}
	if len(place) == 0 {
		delete(out, "metadata")
	}
	delete(out, "apiVersion")
	delete(out, "kind")
	if spec, ok := out["spec"].(map[string]any); ok && t.served.scale {
		out["spec"] = without(spec, "replicas")
	}
	return out, nil
}
