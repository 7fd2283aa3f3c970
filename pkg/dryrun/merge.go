package dryrun

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/changeward/changeward/pkg/diff"
)

// merger merges here what the server would merge there, by the server's own
// library and its own schema of the kind: for objects whose managed fields an
// applier rewrites first, which no dry run can show.
type merger struct {
	manager *managedfields.FieldManager
	gvk     schema.GroupVersionKind
	status  bool // has a status subresource
}

func (o *observer) merger(ctx context.Context, t *target) (*merger, error) {
	published, err := o.index.published(ctx, t.gvk)
	if err != nil {
		return nil, err
	}
	reset := map[fieldpath.APIVersion]fieldpath.Filter{}
	if t.served.status {
		reset[fieldpath.APIVersion(t.gvk.GroupVersion().String())] =
			fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status")))
	}
	versions := versions{gvk: t.gvk, kinds: o.options.Kinds}
	manager, err := managedfields.NewDefaultCRDFieldManager(newTypeConverter(published), versions, noDefaults{}, creator{},
		t.gvk, t.gvk.GroupVersion(), "", reset)
	if err != nil {
		return nil, err
	}
	return &merger{manager: manager, gvk: t.gvk, status: t.served.status}, nil
}

// apply merges desired content into an object as a server-side apply would,
// and returns the result, managed fields included. A conflict is the error
// that the server would answer with.
func (m *merger) apply(live *unstructured.Unstructured, desired map[string]any, manager string, force bool) (*unstructured.Unstructured, error) {
	if err := m.dropForeignStatus(live); err != nil {
		return nil, err
	}
	patch := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(desired)}
	merged, err := m.manager.Apply(live.DeepCopy(), patch, manager, force)
	if err != nil {
		return nil, err
	}
	out, ok := merged.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("the merged object is a %T", merged)
	}
	return out, nil
}

// dropForeignStatus takes away what managers hold of status in other versions
// of the kind, which could not be converted: no apply touches status.
func (m *merger) dropForeignStatus(live *unstructured.Unstructured) error {
	if !m.status {
		return nil
	}
	entries := live.GetManagedFields()
	kept := entries[:0]
	for _, entry := range entries {
		if entry.APIVersion != m.gvk.GroupVersion().String() && entry.FieldsV1 != nil {
			set, err := FieldsOf(entry)
			if err != nil {
				return err
			}
			onStatus := true
			set.Iterate(func(path fieldpath.Path) {
				onStatus = onStatus && path[0].FieldName != nil && *path[0].FieldName == "status"
			})
			if onStatus {
				continue
			}
		}
		kept = append(kept, entry)
	}
	live.SetManagedFields(kept)
	return nil
}

// typeConverter converts objects of one kind by the server's schema.
type typeConverter struct{ kind typed.ParseableType }

func newTypeConverter(s *diff.Schema) typeConverter {
	return typeConverter{typed.ParseableType{Schema: s.Types, TypeRef: s.Root}}
}

// ObjectToTyped is for objects of the kind only: versions see to it.
func (t typeConverter) ObjectToTyped(object runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	content, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("no type for a %T", object)
	}
	return t.kind.FromUnstructured(content.Object, options...)
}

// TypedToObject is the way back.
func (typeConverter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	content, ok := value.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the typed value is no object")
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// versions converts between versions of a kind, which only the server can: to
// the same version, that is. A version that the server no longer serves it no
// longer knows either, and forgets who held what in it.
type versions struct {
	gvk   schema.GroupVersionKind
	kinds *Kinds
}

func (v versions) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	wanted, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{v.gvk})
	if !ok {
		other, isVersion := target.(schema.GroupVersion)
		if !isVersion {
			return nil, fmt.Errorf("no conversion to %v", target)
		}
		wanted = other.WithKind(v.gvk.Kind)
	}
	switch _, served := v.kinds.served[wanted]; {
	case wanted == v.gvk:
		return in, nil
	case !served && !scheme.Scheme.Recognizes(wanted):
		return nil, runtime.NewNotRegisteredErrForKind("the server", wanted)
	}
	return nil, fmt.Errorf("some of its fields are held in version %s, and only the server can convert them to %s",
		wanted.Version, v.gvk.Version)
}

func (v versions) Convert(_, _, _ any) error { return fmt.Errorf("no conversion") }

func (v versions) ConvertFieldLabel(_ schema.GroupVersionKind, _, _ string) (string, string, error) {
	return "", "", fmt.Errorf("no conversion")
}

// noDefaults leaves defaults to the server.
type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}

// creator makes empty objects.
type creator struct{}

func (creator) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetGroupVersionKind(kind)
	return out, nil
}
