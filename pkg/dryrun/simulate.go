package dryrun

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/plan"
)

// Why an object is read, not dry-run.
const (
	unguarded  = "admission never guards its own configuration, and the caller may not dry-run it: it was read only"
	aggregated = "its API is served by another server than Kubernetes itself, which no admission guards: it was read only"
	unsaid     = "its API does not say that it knows dry runs: it was read only"
)

// readOnly says why a kind must not be dry-run at all, "" if it may be. Kinds
// of Kubernetes itself may; for all others the server's own list says whether
// it serves them. Who may not read that list has to rely on the description of
// the API, which names dry runs where it knows them.
func (o *observer) readOnly(ctx context.Context, gvk schema.GroupVersionKind) (string, error) {
	if scheme.Scheme.Recognizes(gvk) {
		return "", nil
	}
	once, _ := o.services.LoadOrStore(gvk.GroupVersion(), sync.OnceValues(func() (string, error) {
		return o.serviceOf(ctx, gvk)
	}))
	return once.(func() (string, error))()
}

func (o *observer) serviceOf(ctx context.Context, gvk schema.GroupVersionKind) (string, error) {
	services := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	service, err := o.client.dynamic.Resource(services).Get(ctx, gvk.Version+"."+gvk.Group, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		known, err := o.index.dryRuns(ctx, gvk)
		if err != nil || known {
			return "", err
		}
		return unsaid, nil
	case err != nil:
		return "", fmt.Errorf("read which server serves %s: %w", gvk.GroupVersion(), err)
	}
	if remote, _, _ := unstructured.NestedMap(service.Object, "spec", "service"); remote != nil {
		return aggregated, nil
	}
	return "", nil
}

// simulate reads LIVE, and does here what a server-side apply would: no
// default, no check, no admission.
func (o *observer) simulate(ctx context.Context, t *target, why string, seen *plan.Observation) error {
	live, err := t.get(ctx)
	if err != nil {
		return err
	}
	treatment, err := o.treat(ctx, t, live)
	if err != nil {
		return err
	}
	seen.Applier, seen.Skip = treatment.Applier, treatment.Skip
	if live == nil {
		seen.Unverified, seen.Live, seen.Merged = why, nil, seen.Object.Content
		return nil
	}
	if seen.Schema, err = o.index.of(ctx, t.gvk); err != nil {
		return err
	}
	m := moment{live: live, treatment: treatment}
	merged, err := applied(live, normalised(t.sent(m)), treatment.Applier, seen.Schema)
	if err != nil {
		return fmt.Errorf("simulate an apply: %w", err)
	}
	m.merged = &unstructured.Unstructured{Object: merged}
	seen.Unverified, seen.ResourceVersion = why, live.GetResourceVersion()
	seen.Live, seen.Merged = o.maskOf(t, m)(bare(live, t)), o.maskOf(t, m)(bare(m.merged, t))
	seen.Holders = holders(live, seen.Schema)
	if !reflect.DeepEqual(seen.Live, seen.Merged) {
		seen.Notes = append(seen.Notes, treatment.Notes...)
	}
	return nil
}

// applied is LIVE with the manifest's values, and without those that the
// manager applied before, no longer wants, and alone holds.
func applied(live *unstructured.Unstructured, desired map[string]any, applier plan.Applier, s *diff.Schema) (map[string]any, error) {
	kind := typed.DeducedParseableType
	if s != nil {
		kind = typed.ParseableType{Schema: s.Types, TypeRef: s.Root}
	}
	old, err := kind.FromUnstructured(live.Object, typed.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	wanted, err := kind.FromUnstructured(desired, typed.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	merged, err := old.Merge(wanted)
	if err != nil {
		return nil, err
	}
	kept, err := wanted.ToFieldSet()
	if err != nil {
		return nil, err
	}
	own, others, err := fieldsOf(live, applier.Manager)
	if err != nil {
		return nil, err
	}
	out, ok := merged.RemoveItems(own.Difference(kept.Union(others))).AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the result is no object")
	}
	return out, nil
}

// fieldsOf parts the fields of LIVE: those that a manager applied, and those
// of all others.
func fieldsOf(live *unstructured.Unstructured, manager string) (own, others *fieldpath.Set, err error) {
	own, others = &fieldpath.Set{}, &fieldpath.Set{}
	for _, entry := range live.GetManagedFields() {
		set, err := FieldsOf(entry)
		if err != nil {
			return nil, nil, err
		}
		if isApply(entry, manager) {
			own = own.Union(set)
		} else {
			others = others.Union(set)
		}
	}
	return own, others, nil
}
