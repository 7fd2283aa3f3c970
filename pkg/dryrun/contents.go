package dryrun

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/changeward/changeward/pkg/plan"
)

// dying is what is deleted with an object, each once: the server shows some
// under two groups.
type dying struct {
	mu     sync.Mutex
	seen   map[types.UID]bool
	kinds  map[string]int
	claims map[string]string // UID by name
}

// fill puts it into a deletion; nothing of it is nil there.
func (d *dying) fill(deletion *plan.Deletion) {
	if len(d.kinds) == 0 {
		return
	}
	deletion.Contents = d.kinds
	for _, name := range slices.Sorted(maps.Keys(d.claims)) {
		deletion.Claims = append(deletion.Claims, name)
		deletion.Volumes = append(deletion.Volumes, d.claims[name])
	}
}

func (d *dying) add(kind schema.GroupKind, object metav1.PartialObjectMetadata) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen[object.UID] {
		return
	}
	d.seen[object.UID] = true
	d.kinds[kind.String()]++
	if kind == claimKind() {
		d.claims[object.Name] = string(object.UID)
	}
}

func claimKind() schema.GroupKind { return schema.GroupKind{Kind: "PersistentVolumeClaim"} }

// dependents is what goes with an object: all that lives in a namespace, all
// objects of a definition, the claims of a StatefulSet that does not retain
// them.
func (r *remover) dependents(ctx context.Context, t *target, live *unstructured.Unstructured) (*dying, error) {
	d := &dying{seen: map[types.UID]bool{}, kinds: map[string]int{}, claims: map[string]string{}}
	switch t.gvk.GroupKind().String() {
	case "Namespace":
		return d, r.contents(ctx, live.GetName(), d)
	case "CustomResourceDefinition.apiextensions.k8s.io":
		return d, r.instances(ctx, live, d)
	case "StatefulSet.apps":
		when, _, _ := unstructured.NestedString(live.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
		if when != "Delete" || r.options.Propagation == "orphan" {
			return d, nil
		}
		return d, r.each(ctx, claimKind(), live.GetNamespace(), func(object metav1.PartialObjectMetadata) {
			if slices.ContainsFunc(object.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == live.GetUID() }) {
				d.add(claimKind(), object)
			}
		})
	}
	return d, nil
}

// contents counts what lives in a namespace. What cannot be listed is an
// error: nobody could approve it.
func (r *remover) contents(ctx context.Context, namespace string, d *dying) error {
	for group, err := range r.options.Kinds.failed {
		return fmt.Errorf("the server could not say which kinds it serves in group %s: %w", group, err)
	}
	group := errgroup.Group{} // a list that ends early would be reported past the caller's streams
	group.SetLimit(r.options.Concurrency)
	for kind, version := range r.options.Kinds.preferred {
		found := r.options.Kinds.served[kind.WithVersion(version)]
		if !found.namespaced || !found.deletable || follows(kind) {
			continue
		}
		group.Go(func() error {
			return r.each(ctx, kind, namespace, func(object metav1.PartialObjectMetadata) {
				if !comesBack(kind, object) {
					d.add(kind, object)
				}
			})
		})
	}
	return group.Wait()
}

// follows says that objects of a kind come and go with others, or by
// themselves: their number would void an approval for nothing.
func follows(kind schema.GroupKind) bool {
	return kind.Kind == "Event" || slices.Contains([]string{"Endpoints", "EndpointSlice.discovery.k8s.io", "Lease.coordination.k8s.io"}, kind.String())
}

// comesBack says that a controller made an object and makes it again: it goes
// with the one that it belongs to, or every namespace has it.
func comesBack(kind schema.GroupKind, object metav1.PartialObjectMetadata) bool {
	return metav1.GetControllerOfNoCopy(&object) != nil ||
		kind.String() == "ConfigMap" && object.Name == "kube-root-ca.crt" ||
		kind.String() == "ServiceAccount" && object.Name == "default"
}

// instances counts the objects of a definition, in all namespaces.
func (r *remover) instances(ctx context.Context, definition *unstructured.Unstructured, d *dying) error {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	name, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	kind := schema.GroupKind{Group: group, Kind: name}
	if _, served := r.options.Kinds.preferred[kind]; !served {
		return r.options.Kinds.Unreadable(group)
	}
	return r.each(ctx, kind, "", func(object metav1.PartialObjectMetadata) { d.add(kind, object) })
}

// each reads the metadata of all objects of a kind, page by page; namespace ""
// is all of them.
func (r *remover) each(ctx context.Context, kind schema.GroupKind, namespace string, do func(metav1.PartialObjectMetadata)) error {
	found := r.options.Kinds.served[kind.WithVersion(r.options.Kinds.preferred[kind])]
	options := metav1.ListOptions{Limit: listPage}
	for {
		page, err := r.client.metadata.Resource(found.resource).Namespace(namespace).List(ctx, options)
		if err != nil {
			return fmt.Errorf("list %s: %w", strings.ToLower(found.resource.GroupResource().String()), err)
		}
		for _, object := range page.Items {
			do(object)
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}
