package dryrun

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Look reads an object as it is now, Secret values masked, and who wrote each of
// its fields; without an object it is not there. The failure tells what is
// forbidden from what could not be read.
func (c *Client) Look(ctx context.Context, kinds *Kinds, masker manifest.Masker, version string, key manifest.Key) (plan.Sight, *plan.Failure) {
	gvk := schema.GroupVersionKind{Group: key.Group, Version: version, Kind: key.Kind}
	found, known := kinds.served[gvk]
	if !known {
		return plan.Sight{}, &plan.Failure{Reason: plan.ReasonUnknownKind, Message: "the server does not serve its kind in version " + version}
	}
	o := &observer{client: c, index: &schemaIndex{schemas: c.schemas}, options: ObserveOptions{Kinds: kinds, Masker: masker}}
	content := map[string]any{"apiVersion": gvk.GroupVersion().String(), "kind": key.Kind, "metadata": map[string]any{"name": key.Name, "namespace": key.Namespace}}
	t := &target{object: manifest.Object{Content: content}, gvk: gvk, served: found, resource: o.resource(found, key.Namespace)}
	live, err := t.get(ctx)
	if err != nil {
		return plan.Sight{}, failureOf(err, t.object)
	}
	if live == nil {
		return plan.Sight{}, nil
	}
	published, err := o.index.of(ctx, gvk)
	if err != nil {
		return plan.Sight{}, failureOf(err, t.object)
	}
	return plan.Sight{Object: o.mask(t.object.Key(), bare(live, t), live.Object), Holders: holders(live, published)}, nil
}
