package dryrun

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
)

// leftoverNotes is how many fields are named one by one.
const leftoverNotes = 10

// leftovers tell of what stays though the manifest does not have it: fields
// that somebody once applied from a client, or wrote by hand with kubectl, and
// that this applier does not take over.
func (o *observer) leftovers(ctx context.Context, t *target, m moment) ([]string, error) {
	secret := manifest.IsSecret(t.object.Content)
	if m.live == nil || m.replaced || !slices.ContainsFunc(m.live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return secret || byHand(e, m.treatment.Applier.Manager)
	}) {
		return nil, nil
	}
	published, err := o.index.published(ctx, t.gvk)
	if err != nil {
		return nil, err
	}
	l := leftover{kind: typed.ParseableType{Schema: published.Types, TypeRef: published.Root}, schema: published}
	notes, err := l.notes(t, m)
	if err != nil { // it may hold values, and nothing but these notes depends on it
		return []string{"whether live has fields that the manifest lacks cannot be told: it does not fit its schema"}, nil
	}
	return notes, nil
}

// byHand says whether an entry of managed fields is somebody's who wrote the
// object itself with kubectl, past the applier.
func byHand(entry metav1.ManagedFieldsEntry, applier string) bool {
	return entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == "" &&
		strings.HasPrefix(entry.Manager, "kubectl") && entry.Manager != applier
}

type leftover struct {
	kind   typed.ParseableType
	schema *diff.Schema
}

func (l leftover) notes(t *target, m moment) ([]string, error) {
	desired, err := l.fields(normalised(t.sent(m)))
	if err != nil {
		return nil, err
	}
	there, err := l.fields(m.merged.Object)
	if err != nil {
		return nil, err
	}
	var notes []string
	for _, entry := range m.live.GetManagedFields() {
		set, err := l.held(entry, t, m)
		if err != nil {
			return nil, err
		}
		for _, path := range l.tops(set.Difference(desired).Intersection(there)) {
			notes = append(notes, "live has "+path+", held by "+entry.Manager+", not in the manifest")
		}
	}
	if more := len(notes) - leftoverNotes; more > 0 {
		notes = append(notes[:leftoverNotes], fmt.Sprintf("live has %d more fields, held by kubectl's managers, that are not in the manifest", more))
	}
	return notes, nil
}

func (l leftover) fields(content map[string]any) (*fieldpath.Set, error) {
	value, err := l.kind.FromUnstructured(content, typed.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	return value.ToFieldSet()
}

// held are the fields of an entry that may stay behind. No applier takes the
// data of a Secret away that was written as stringData, not even its own.
func (l leftover) held(entry metav1.ManagedFieldsEntry, t *target, m moment) (*fieldpath.Set, error) {
	hand := byHand(entry, m.treatment.Applier.Manager)
	if entry.APIVersion != t.gvk.GroupVersion().String() || !hand && !manifest.IsSecret(t.object.Content) {
		return fieldpath.NewSet(), nil
	}
	set, err := FieldsOf(entry)
	if err != nil {
		return nil, err
	}
	if !hand {
		return data(clearOf(set)), nil
	}
	if manifest.IsSecret(t.object.Content) {
		set = data(set)
	}
	return l.meant(set, m.live), nil
}

// meant is what a manager set on purpose. A client-side applier holds defaults,
// too: what it applied is in its bookkeeping.
func (l leftover) meant(set *fieldpath.Set, live *unstructured.Unstructured) *fieldpath.Set {
	if !lastAppliedField().Difference(set).Empty() {
		return set
	}
	var applied map[string]any
	if json.Unmarshal([]byte(live.GetAnnotations()[corev1.LastAppliedConfigAnnotation]), &applied) != nil {
		return fieldpath.NewSet() // no JSON, then nothing can be told
	}
	fields, err := l.fields(normalised(manifest.Object{Content: applied}))
	if err != nil { // of another version, say
		return fieldpath.NewSet()
	}
	return set.Intersection(fields)
}

// data is a set of a Secret with what was written as stringData where it is.
func data(set *fieldpath.Set) *fieldpath.Set {
	out := fieldpath.NewSet()
	set.Iterate(func(path fieldpath.Path) {
		path = path.Copy()
		if isClear(path) {
			path[0] = fieldpath.FieldNameElement("data")
		}
		out.Insert(path)
	})
	return out
}

// clearOf is what a set has of stringData.
func clearOf(set *fieldpath.Set) *fieldpath.Set {
	out := fieldpath.NewSet()
	set.Iterate(func(path fieldpath.Path) {
		if isClear(path) && len(path) > 1 {
			out.Insert(path.Copy())
		}
	})
	return out
}

func isClear(path fieldpath.Path) bool {
	return path[0].FieldName != nil && *path[0].FieldName == "stringData"
}

// tops are the paths of a set without those below others, and without
// bookkeeping.
func (l leftover) tops(set *fieldpath.Set) []string {
	var out []string
	set.Difference(lastAppliedField()).Iterate(func(path fieldpath.Path) { out = append(out, formatPath(path, l.schema)) })
	slices.Sort(out)
	var tops []string
	for _, path := range out {
		below := func(top string) bool { return inside(path, top) }
		if path != "metadata.annotations" && !slices.ContainsFunc(tops, below) {
			tops = append(tops, path)
		}
	}
	return tops
}
