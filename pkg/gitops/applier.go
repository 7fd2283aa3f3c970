package gitops

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Mark is an object with the labels or annotations by which the owner knows
// its own. It copies what it changes.
func (o *Owner) Mark(object manifest.Object) manifest.Object {
	if o.Flux != nil {
		return with(object, "labels", o.Flux.OwnerLabels())
	}
	if object.Group() == "apiextensions.k8s.io" && object.Kind() == "CustomResourceDefinition" {
		return object // Argo CD marks all but these
	}
	switch o.Settings.Method {
	case "label":
		return with(object, "labels", map[string]string{o.Settings.Label: o.Argo.InstanceName(o.Settings)})
	case "annotation+label":
		object = with(object, "labels", map[string]string{o.Settings.Label: o.Argo.LabelValue(o.Settings)})
	}
	key, value := o.Argo.TrackingID(object.Key(), o.Settings)
	marks := map[string]string{key: value}
	if id := o.Settings.InstallationID; id != "" {
		marks["argocd.argoproj.io/installation-id"] = id
	}
	return with(object, "annotations", marks)
}

func with(object manifest.Object, field string, texts map[string]string) manifest.Object {
	content := maps.Clone(object.Content)
	metadata, _ := content["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	members, _ := metadata[field].(map[string]any)
	members = maps.Clone(members)
	if members == nil {
		members = map[string]any{}
	}
	for key, value := range texts {
		members[key] = value
	}
	metadata[field], content["metadata"] = members, metadata
	object.Content = content
	return object
}

// PlainApplier applies as the owner's spec says: its marks, its mode and
// manager, what it skips. It rewrites no managed fields.
func (o *Owner) PlainApplier() dryrun.Applier {
	if o.applies != nil {
		return o.applies
	}
	return applier{o}
}

type applier struct{ *Owner }

// Hooks are Argo CD's; Flux applies them like all other objects.
func (a applier) Hooks() bool { return a.Argo != nil }

// Desired is the marked object.
func (a applier) Desired(object manifest.Object) (manifest.Object, error) {
	return a.Mark(object), nil
}

// Treat skips what the owner skips.
func (a applier) Treat(desired manifest.Object, live *unstructured.Unstructured) (dryrun.Treatment, error) {
	var present map[string]any
	if live != nil {
		present = live.Object
	}
	treatment := dryrun.Treatment{Applier: a.Applier, Skip: a.skip(desired, present)}
	if a.Argo != nil && a.Argo.Options(desired, present).ServerSide != (a.Applier.Mode == plan.ModeServerSide) {
		treatment.Applier.Mode, treatment.Applier.Force = plan.ModeServerSide, true
		if a.Applier.Mode == plan.ModeServerSide {
			treatment.Applier.Mode, treatment.Applier.Force = plan.ModeClientSide, false
		}
	}
	return treatment, nil
}
