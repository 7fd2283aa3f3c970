package gitops

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Tools are the GitOps controllers of a cluster as appliers of objects whose
// owner is not known.
type Tools struct {
	argo argocd.Settings
	flux flux.Controller
	// Why they are the defaults, where something may say otherwise.
	argoWhy, fluxWhy string
}

// FindTools reads what the controllers of a cluster say of all that they apply.
// A cluster without them, or that does not let them be read, has the defaults;
// the latter is noted where
// they apply. An error is an answer that did not come.
func FindTools(ctx context.Context, reader Reader) (*Tools, error) {
	t := &Tools{argo: argocd.ReadSettings("argocd", nil)}
	if reader.Serves(flux.Group, "Kustomization") {
		var err error
		if t.flux, t.fluxWhy, err = findController(ctx, reader, ""); err != nil {
			return nil, err
		}
	}
	if !reader.Serves(argocd.Group, "Application") {
		return t, nil
	}
	settings, failure := findSettings(ctx, reader, "")
	switch {
	case failure == nil:
		t.argo = settings
	case failure.Reason == plan.ReasonForbidden:
		t.argoWhy = "ConfigMap argocd-cm may not be read: " + assumed
	case failure.Reason == reasonSeveral:
		t.argoWhy = failure.Message + ": " + assumed
	default:
		return nil, fmt.Errorf("how Argo CD marks its objects is in ConfigMap argocd-cm, which cannot be read: %s", failure.Message)
	}
	return t, nil
}

// assumed is what is taken for granted where settings are not known.
const assumed = "Argo CD is taken to mark its objects by annotation, and to ignore nothing"

// Applier is a controller as it applies by default, under the name that plans
// know it by; nil is no controller.
func (t *Tools) Applier(name string) dryrun.Applier {
	switch name {
	case flux.Applier:
		return t.By(flux.Manager, true)
	case argocd.Applier:
		return t.By(argocd.Manager, false)
	}
	return nil
}

// By is the controller that applies under a field manager, nil where that is
// none: see dryrun.Controllers.
func (t *Tools) By(manager string, serverSide bool) dryrun.Applier {
	switch manager {
	case flux.Manager:
		return noted{flux.Unowned(t.flux), t.fluxWhy}
	case argocd.Manager:
		return noted{argocd.Unowned(serverSide, t.argo), t.argoWhy}
	}
	return nil
}

// noted is an applier with something to say where it changes an object.
type noted struct {
	dryrun.Applier
	note string
}

// Treat adds the note.
func (n noted) Treat(desired manifest.Object, live *unstructured.Unstructured) (dryrun.Treatment, error) {
	treatment, err := n.Applier.Treat(desired, live)
	if n.note != "" {
		treatment.Notes = append(treatment.Notes, n.note)
	}
	return treatment, err
}
