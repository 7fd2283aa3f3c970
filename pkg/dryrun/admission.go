package dryrun

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/plan"
)

// admission lists what the server adds to a new object beyond manifest and
// defaults. The server writes managed fields after it has filled in defaults,
// and before admission: what the creator owns is the manifest with defaults,
// what nobody owns was added, and what is owned with another value than the
// manifest's was rewritten.
func (o *observer) admission(t *target, m moment, s *diff.Schema) ([]plan.AdmissionValue, error) {
	if isExempt(t.gvk.GroupKind()) {
		return nil, nil
	}
	desired := normalised(t.sent(m))
	if s != nil && m.treatment.validation() != metav1.FieldValidationStrict {
		desired, _ = declared(desired, s, rootAtom(s)).(map[string]any)
	}
	expected, err := expectation(m.posted, desired, s)
	if err != nil {
		return nil, fmt.Errorf("tell what admission adds: %w", err)
	}
	mask := o.maskOf(t, m)
	before := diff.Clean(mask(expected), t.served.status)
	after := diff.Clean(mask(m.posted.Object), t.served.status)
	if t.gvk.GroupKind() == (schema.GroupKind{Kind: "Pod"}) {
		renameTokenVolume(after)
	}
	var added []plan.AdmissionValue
	for _, transition := range diff.Objects(before, after, nil, s) {
		if !isDefault(t.gvk, transition, s) {
			added = append(added, valueOf(t.gvk, transition))
		}
	}
	return added, nil
}

// expectation is the object as it would be stored without admission: the owned
// part of the server's answer, under the manifest's own values.
func expectation(posted *unstructured.Unstructured, desired map[string]any, s *diff.Schema) (map[string]any, error) {
	owned, err := ownedBy(posted)
	if err != nil {
		return nil, err
	}
	kind := typed.DeducedParseableType
	if s != nil {
		kind = typed.ParseableType{Schema: s.Types, TypeRef: s.Root}
	}
	answer, err := kind.FromUnstructured(posted.Object, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("the server's answer does not fit its schema: %w", err)
	}
	manifest, err := kind.FromUnstructured(desired, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("the manifest does not fit the server's schema: %w", err)
	}
	merged, err := answer.ExtractItems(owned.Leaves(), typed.WithAppendKeyFields()).Merge(manifest)
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
		set := &fieldpath.Set{}
		if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			return nil, fmt.Errorf("managed fields: %w", err)
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
