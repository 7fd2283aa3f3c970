package dryrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// rewrite redoes an accepted dry run for an applier that changes managed
// fields first, or afterwards, and sends its patch again then. No dry run can
// build on what another one did, so the changes are made to a copy of LIVE,
// the patch is merged here, and the server completes the result as an update.
func (o *observer) rewrite(ctx context.Context, t *target, m *moment) error {
	m.pending = true
	merge, err := o.merger(ctx, t)
	if err != nil {
		return fmt.Errorf("the applier rewrites managed fields: %w", err)
	}
	steps := chain{merger: merge, treatment: m.treatment, desired: t.content(m.treatment)}
	plain, final, refused, err := steps.both(m)
	if err != nil {
		return err
	}
	if refused == nil && reflect.DeepEqual(withoutManagers(plain), withoutManagers(final)) {
		m.pending, m.rewritten = false, true // the dry run has shown it all
		return nil
	}
	final.SetResourceVersion(m.live.GetResourceVersion())
	merged, err := t.put(ctx, final, m.treatment.Applier.Manager, metav1.FieldValidationIgnore)
	switch {
	case err == nil:
		m.plain, m.merged = m.merged, merged
		m.pending, m.rewritten = false, true
	case apierrors.IsInvalid(err) && m.treatment.Before == nil && m.treatment.After != nil:
		// The first patch and the take-over stand. That the second patch
		// fails is no more than a warning of kubectl.
		m.merged = m.merged.DeepCopy()
		if err := m.treatment.After(m.merged); err != nil {
			return fmt.Errorf("rewrite managed fields as the applier does: %w", err)
		}
		m.pending, m.rewritten = false, true
		m.treatment.Notes = append(slices.Clone(m.treatment.Notes), refusedAgain(err, m.treatment.Applier.Manager))
		return nil
	}
	return unlessRaced(err)
}

// refusedAgain says what the second patch fails on. It names fields only: the
// server's text may repeat values.
func refusedAgain(err error, manager string) string {
	fields := "what the server requires"
	if status := apierrors.APIStatus(nil); errors.As(err, &status) && status.Status().Details != nil {
		var named []string
		for _, cause := range status.Status().Details.Causes {
			if cause.Field != "" {
				named = append(named, cause.Field)
			}
		}
		if len(named) > 0 {
			fields = strings.Join(named, ", ")
		}
	}
	return "this apply succeeds with a warning, and the next one fails: " + manager +
		" takes over what client-side apply held, and the manifest lacks " + fields
}

// unlessRaced drops the refusal of a write at a resourceVersion that has
// moved: the object is looked at again.
func unlessRaced(err error) error {
	if apierrors.IsConflict(err) && len(conflictsOf(err)) == 0 {
		return nil
	}
	return err
}

// rewrites says whether the applier would change anything but by its patch.
func rewrites(m *moment) (bool, error) {
	for _, step := range []struct {
		change func(*unstructured.Unstructured) error
		given  *unstructured.Unstructured
	}{{m.treatment.Before, m.live}, {m.treatment.After, m.merged}} {
		if step.change == nil {
			continue
		}
		before := withOwnMetadata(step.given)
		after := withOwnMetadata(step.given)
		if err := step.change(after); err != nil {
			return false, fmt.Errorf("rewrite managed fields as the applier does: %w", err)
		}
		if !reflect.DeepEqual(before.Object["metadata"], after.Object["metadata"]) {
			return true, nil
		}
	}
	return false, nil
}

// chain is what an applier does to one object, step by step.
type chain struct {
	merger    *merger
	treatment Treatment
	desired   map[string]any
}

func (c chain) run(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	current := live.DeepCopy()
	if c.treatment.Before != nil {
		if err := c.treatment.Before(current); err != nil {
			return nil, err
		}
	}
	current, err := c.patch(current)
	if err != nil {
		return nil, err
	}
	return c.rest(current)
}

// both is what the patch alone would leave, or why not, and what all steps
// leave. Where nothing comes before it, the server has shown the first patch:
// what others hold in other versions of the kind, only the server can convert.
func (c chain) both(m *moment) (plain, final *unstructured.Unstructured, refused, err error) {
	if c.treatment.Before == nil {
		plain = m.merged
		final, err = c.rest(m.merged)
	} else {
		plain, refused = c.patch(m.live) // without what the applier rewrites first, which may be what is in the way
		final, err = c.run(m.live)
	}
	switch {
	case err != nil && refused != nil:
		err = fmt.Errorf("merge as the server would: %w", refused)
	case err != nil:
		err = fmt.Errorf("merge as the server would after the applier rewrote managed fields: %w", err)
	}
	return plain, final, refused, err
}

// rest is what follows the first patch.
func (c chain) rest(patched *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if c.treatment.After == nil {
		return patched, nil
	}
	patched = patched.DeepCopy()
	if err := c.treatment.After(patched); err != nil {
		return nil, err
	}
	return c.patch(patched)
}

func (c chain) patch(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return c.merger.apply(live.DeepCopy(), c.desired, c.treatment.Applier.Manager, c.treatment.Applier.Force)
}

// withOwnMetadata is a copy that shares all but its metadata.
func withOwnMetadata(object *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: without(object.Object)}
	if metadata, ok := object.Object["metadata"].(map[string]any); ok {
		out.Object["metadata"] = runtime.DeepCopyJSON(metadata)
	}
	return out
}

func withoutManagers(object *unstructured.Unstructured) map[string]any {
	out := withOwnMetadata(object)
	out.SetManagedFields(nil)
	return out.Object
}

// FieldsOf reads what an entry of managed fields holds; the error names its
// manager.
func FieldsOf(entry metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if entry.FieldsV1 == nil {
		return set, nil
	}
	if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
		return nil, fmt.Errorf("managed fields of %s: %w", entry.Manager, err)
	}
	return set, nil
}
