package dryrun

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Reader reads single objects that plans depend on: owners, and what they are
// set up by. It reads no Secrets.
type Reader struct {
	Client *Client
	Kinds  *Kinds
}

// Serves says whether the server serves a kind.
func (r Reader) Serves(group, kind string) bool { return r.Kinds.Preferred(group, kind) != "" }

// Read reads an object in the version that the server prefers. The failure
// tells an object that is not there from a kind that is not, and both from one
// that may not or could not be read.
func (r Reader) Read(ctx context.Context, key manifest.Key) (map[string]any, *plan.Failure) {
	return r.ReadIn(ctx, r.Kinds.Preferred(key.Group, key.Kind), key)
}

// ReadIn reads an object as Read does, in a version.
func (r Reader) ReadIn(ctx context.Context, version string, key manifest.Key) (map[string]any, *plan.Failure) {
	found, failure := r.kind(version, key)
	if failure != nil {
		return nil, failure
	}
	object, err := r.Client.dynamic.Resource(found.resource).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if err != nil {
		failure := failureOf(err, manifest.Object{})
		if failure.Reason == plan.ReasonUnknownKind { // the kind is served, so this is about the object
			failure.Reason = plan.ReasonNotFound
		}
		return nil, failure
	}
	return object.Object, nil
}

// Named finds the objects of a kind and name, "" for any, in all namespaces; the
// key has no namespace. The failure is as that of Read, but for none found.
func (r Reader) Named(ctx context.Context, key manifest.Key) ([]map[string]any, *plan.Failure) {
	found, failure := r.kind(r.Kinds.Preferred(key.Group, key.Kind), key)
	if failure != nil {
		return nil, failure
	}
	var options metav1.ListOptions
	if key.Name != "" {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", key.Name).String()
	}
	list, err := r.Client.dynamic.Resource(found.resource).List(ctx, options)
	if err != nil {
		return nil, failureOf(err, manifest.Object{})
	}
	var out []map[string]any
	for _, object := range list.Items {
		out = append(out, object.Object)
	}
	return out, nil
}

func (r Reader) kind(version string, key manifest.Key) (served, *plan.Failure) {
	if key.Group == "" && key.Kind == "Secret" {
		return served{}, &plan.Failure{Reason: plan.ReasonUnreadable, Message: "Secrets are not read here"}
	}
	gvk := schema.GroupVersionKind{Group: key.Group, Version: version, Kind: key.Kind}
	found, known := r.Kinds.served[gvk]
	switch {
	case known:
		return found, nil
	case r.Kinds.Unreadable(key.Group) != nil:
		return served{}, &plan.Failure{Reason: plan.ReasonUnreadable, Message: r.Kinds.Unreadable(key.Group).Error()}
	}
	return served{}, &plan.Failure{Reason: plan.ReasonUnknownKind, Message: "the server does not know the kind " + key.Kind + " of group " + key.Group}
}
