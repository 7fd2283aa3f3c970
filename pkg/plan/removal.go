package plan

import (
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
)

// Removal is what the server answered about one object that left the
// manifests, and that its owner keeps a list of. Secret values are masked
// already.
type Removal struct {
	Key     manifest.Key
	Version string
	Source  manifest.Source // the list that names it
	Live    map[string]any  // nil: the object is gone, nothing is to do
	// StatusSubresource says that status is not part of an apply.
	StatusSubresource bool
	Applier           Applier
	Deletion          Deletion
	// Kept is why the applier leaves the object there; "" means that it
	// deletes it.
	Kept string
	// Unverified says what the server could not check; "" means that it did.
	Unverified string
	Owners     []Owner
	Warnings   []string
	Notes      []string
	Failure    *Failure
}

// remove adds what becomes of an object that left the manifests.
func (b *builder) remove(r Removal) {
	for _, warning := range r.Warnings {
		b.warn(r.Key.String() + ": " + warning)
	}
	switch {
	case r.Failure != nil:
		b.plan.Failed = append(b.plan.Failed, Failed{Key: r.Key, Version: r.Version, Source: r.Source, Failure: *r.Failure})
	case r.Live == nil:
	case r.Kept != "":
		s := r.subject(None)
		s.Skipped = r.Kept
		b.add(s)
	default:
		b.delete(r)
	}
}

func (r Removal) subject(operation Operation) subject {
	return subject{live: r.Live, owners: r.Owners, Change: Change{
		Body: Body{
			Group: r.Key.Group, Version: r.Version, Kind: r.Key.Kind, Namespace: r.Key.Namespace, Name: r.Key.Name,
			Operation: operation,
			Applier:   HashedApplier{Mode: r.Applier.Mode, Manager: r.Applier.Manager, Force: r.Applier.Force},
		},
		Applier: r.Applier.Name, Source: r.Source, Owner: ownerOf(r.Owners), Notes: slices.Clone(r.Notes), Unverified: r.Unverified,
	}}
}

func (b *builder) delete(r Removal) {
	s := r.subject(Delete)
	deletion := r.Deletion
	if home, what := r.home(); home != "" {
		deletion.Wanted = b.living[home]
		b.dying[home] = what
	}
	s.Body.LiveUID, _ = metadata(r.Live, "uid").(string)
	s.Body.Delete = &deletion
	var err error
	if s.Body.Live, err = b.bounds.digestOf(diff.Clean(r.Live, r.StatusSubresource), nil); err != nil {
		b.plan.Failed = append(b.plan.Failed, Failed{Key: r.Key, Version: r.Version, Source: r.Source,
			Failure: Failure{Reason: ReasonInvalid, Message: err.Error()}})
		return
	}
	s.noteOwners(b.owner)
	b.add(s)
}

// prior is the observation under which Before finds the object that a removal
// deletes.
func (r Removal) prior() Observation {
	content := map[string]any{"apiVersion": strings.TrimPrefix(r.Key.Group+"/"+r.Version, "/"), "kind": r.Key.Kind,
		"metadata": map[string]any{"name": r.Key.Name, "namespace": r.Key.Namespace}}
	return Observation{Object: manifest.Object{Content: content, Source: r.Source}, Live: r.Live,
		StatusSubresource: r.StatusSubresource}
}
