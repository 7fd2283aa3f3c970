package dryrun

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/plan"
)

// admission lists what the server adds to a new object beyond manifest and
// defaults, and says what of the manifest makes a difference (see effective).
// The server writes managed fields after it has filled in defaults,
// and before admission: what the creator owns is the manifest with defaults,
// what nobody owns was added, and what is owned with another value than the
// manifest's was rewritten.
func (o *observer) admission(t *target, m moment, s *diff.Schema) (added []plan.AdmissionValue, counts map[string]any, err error) {
	kind := typed.DeducedParseableType
	if s != nil {
		kind = typed.ParseableType{Schema: s.Types, TypeRef: s.Root}
	}
	stored, err := owned(m.posted, kind)
	if err != nil {
		return nil, nil, fmt.Errorf("tell what admission adds: %w", err)
	}
	sent := t.sent(m)
	before, _ := stored.AsValue().Unstructured().(map[string]any)
	sent.Content = effective(sent, before, m.merged, s)
	if isExempt(t.gvk.GroupKind()) {
		return nil, sent.Content, nil
	}
	desired := normalised(sent)
	if s != nil && m.treatment.validation() != metav1.FieldValidationStrict {
		desired, _ = declared(desired, s, rootAtom(s)).(map[string]any)
	}
	expected, err := expectation(stored, desired, kind)
	if err != nil {
		return nil, nil, fmt.Errorf("tell what admission adds: %w", err)
	}
	return o.added(t, m, expected, s), sent.Content, nil
}

// added is in what the server's answer differs from what was to be expected.
func (o *observer) added(t *target, m moment, expected map[string]any, s *diff.Schema) (added []plan.AdmissionValue) {
	mask := o.maskOf(t, m)
	before := diff.Clean(mask(expected), t.served.status)
	after := diff.Clean(mask(m.posted.Object), t.served.status)
	if t.gvk.GroupKind() == (schema.GroupKind{Kind: "Pod"}) {
		renameTokenVolume(after)
	}
	for _, transition := range diff.Objects(before, after, nil, s) {
		if !isDefault(t.gvk, transition, s) && !isRespelled(t.gvk, transition) {
			added = append(added, valueOf(t.gvk, transition))
		}
	}
	return added
}

// isRespelled says that a built-in kind only has another spelling for nothing:
// an aggregated role without rules is stored with null, and shown so.
func isRespelled(gvk schema.GroupVersionKind, changed diff.Transition) bool {
	return changed.Action == diff.Change && isHollow(changed.Old) && isHollow(changed.New) && scheme.Scheme.Recognizes(gvk)
}

// owned is the part of the server's answer that the creator owns: the object
// with defaults, as it is before admission.
func owned(posted *unstructured.Unstructured, kind typed.ParseableType) (*typed.TypedValue, error) {
	fields, err := ownedBy(posted)
	if err != nil {
		return nil, err
	}
	answer, err := kind.FromUnstructured(posted.Object, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("the server's answer does not fit its schema: %w", err)
	}
	return answer.ExtractItems(fields.Leaves(), typed.WithAppendKeyFields()), nil
}

// expectation is the object as it would be stored without admission: the owned
// part of the server's answer, under the manifest's own values.
func expectation(stored *typed.TypedValue, desired map[string]any, kind typed.ParseableType) (map[string]any, error) {
	manifest, err := kind.FromUnstructured(desired, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("the manifest does not fit the server's schema: %w", err)
	}
	merged, err := stored.Merge(manifest)
	if err != nil {
		return nil, err
	}
	object, ok := merged.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the merged manifest is no object")
	}
	return object, nil
}

// ownedBy is what the creator of a new object owns: it has one manager.
func ownedBy(posted *unstructured.Unstructured) (*fieldpath.Set, error) {
	owned := &fieldpath.Set{}
	for _, entry := range posted.GetManagedFields() {
		if entry.Operation != metav1.ManagedFieldsOperationUpdate || entry.FieldsV1 == nil {
			continue
		}
		set, err := FieldsOf(entry)
		if err != nil {
			return nil, err
		}
		owned = owned.Union(set)
	}
	return owned, nil
}

// isExempt says that no admission policy or webhook ever sees a kind: those
// that configure admission themselves.
func isExempt(kind schema.GroupKind) bool {
	return kind.Group == "admissionregistration.k8s.io"
}
