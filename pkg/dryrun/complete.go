package dryrun

import (
	"context"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// observe fills in what the server says about an object.
func (o *observer) observe(ctx context.Context, t *target, seen *plan.Observation) {
	seen.StatusSubresource = t.served.status
	var m moment
	why, err := o.readOnly(ctx, t.gvk)
	if err == nil && why == "" {
		why = t.object.Sealed
	}
	if err == nil && why == "" {
		m, err = o.dryRun(ctx, t, seen)
		if isExempt(t.gvk.GroupKind()) && apierrors.IsForbidden(err) {
			why = unguarded
		}
	}
	if why != "" {
		err = o.simulate(ctx, t, why, seen)
	}
	if err != nil {
		o.fail(ctx, t, m, err, seen)
	}
}

func (o *observer) dryRun(ctx context.Context, t *target, seen *plan.Observation) (moment, error) {
	m, err := o.moment(ctx, t)
	if m.treatment.Applier.Mode != "" { // LIVE could be read
		seen.Applier, seen.Skip = m.treatment.Applier, m.treatment.Skip
	}
	if m.treatment.Content != nil {
		seen.Object.Content = o.maskOf(t, m)(m.treatment.Content)
	}
	if m.live != nil {
		seen.ResourceVersion = m.live.GetResourceVersion()
		seen.Live = o.maskOf(t, m)(bare(m.live, t))
	}
	if err != nil || seen.Skip != "" {
		return m, err
	}
	return m, o.complete(ctx, t, m, seen)
}

// complete adds MERGED, and what is only needed where something changes.
func (o *observer) complete(ctx context.Context, t *target, m moment, seen *plan.Observation) error {
	stays, err := o.leftovers(ctx, t, m)
	if err != nil {
		return err
	}
	seen.Notes = append(seen.Notes, stays...)
	merged := bare(m.merged, t)
	if m.live != nil && !m.replaced && reflect.DeepEqual(bare(m.live, t), merged) {
		seen.Merged = seen.Live // one copy is enough for what does not change
		return nil
	}
	seen.Notes = append(seen.Notes, m.treatment.Notes...)
	schema, err := o.index.published(ctx, t.gvk)
	if err != nil {
		return err
	}
	seen.Schema = schema
	if seen.Replace = m.replaced; m.live == nil || m.replaced {
		var effective map[string]any
		if seen.Admission, effective, err = o.admission(t, m, schema); err != nil {
			return err
		}
		if !reflect.DeepEqual(effective, t.content(m.treatment)) {
			seen.Effective = o.maskOf(t, m)(effective)
		}
	} else {
		seen.Admission = assignments(t, m, schema)
		seen.Notes = append(seen.Notes, o.unasked(ctx, t, m, seen.Admission, schema)...)
		seen.TakesOver = o.takeovers(t, m, schema)
		seen.Notes = append(seen.Notes, shared(m, schema)...)
		seen.Holders = holders(m.live, schema)
		seen.Notes = append(seen.Notes, o.rewriteNotes(t, m, seen.Holders, schema)...)
	}
	seen.Merged = o.maskOf(t, m)(merged)
	return nil
}

// maskOf hides Secret values in any state of an object: what is a value in one
// of its states is hidden in all.
func (o *observer) maskOf(t *target, m moment) func(map[string]any) map[string]any {
	states := []map[string]any{t.object.Content, t.content(m.treatment)}
	for _, state := range []*unstructured.Unstructured{m.live, m.merged, m.posted, m.plain} {
		if state != nil {
			states = append(states, state.Object)
		}
	}
	return func(content map[string]any) map[string]any { return o.mask(t.object.Key(), content, states...) }
}

// mask copies and masks a Secret, and what holds the value of one. Other
// objects have nothing to hide, and are not copied: a plan of thousands of them
// should fit into memory.
func (o *observer) mask(key manifest.Key, content map[string]any, states ...map[string]any) map[string]any {
	if !manifest.IsSecret(content) {
		return o.options.Masker.Hide(key, content)
	}
	return o.options.Masker.Object(content, states...)
}

// bare is an object without its bookkeeping of managers, and without the
// status that no apply touches: most of its bytes, and no part of a plan.
func bare(object *unstructured.Unstructured, t *target) map[string]any {
	out := without(object.Object)
	if t.served.status {
		delete(out, "status")
	}
	if metadata, ok := object.Object["metadata"].(map[string]any); ok {
		out["metadata"] = without(metadata, "managedFields")
	}
	return out
}
