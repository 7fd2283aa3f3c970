package flux

import (
	"errors"
	"fmt"

	ssaerrors "github.com/fluxcd/pkg/ssa/errors"
	"github.com/fluxcd/pkg/ssa/normalize"
	"github.com/fluxcd/pkg/ssa/utils"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Unowned is kustomize-controller as it applies by default, for objects whose
// Kustomization is not known: they keep the labels of their owner, and new ones
// get none.
func Unowned(c Controller) dryrun.Applier { return applier{k: &Kustomization{Controller: c}} }

// unknown is what a plan lacks that knows no Kustomization.
const unknown = "its Kustomization is not known, nor what that says of common metadata, ignored fields, force and pruning: name it with --owner"

// NewApplier is kustomize-controller as it applies a Kustomization. The error names what is wrong with spec.ignore.
func NewApplier(k *Kustomization) (dryrun.Applier, error) {
	ignored, err := k.ignored()
	if err != nil {
		return nil, fmt.Errorf("spec.ignore: %w", err)
	}
	return applier{k: k, ignored: ignored}, nil
}

type applier struct {
	k       *Kustomization
	ignored ignored
}

func (applier) Hooks() bool { return false }

// Desired is the object as the controller sends it: with the labels of its
// owner, in the form that the kind's Go type has, with the common metadata.
func (a applier) Desired(object manifest.Object) (manifest.Object, error) {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object.Content)}
	if encrypted(u) {
		return object, errors.New("it is encrypted with SOPS, and only Flux can decrypt it")
	}
	object.Notes = append(object.Notes[:len(object.Notes):len(object.Notes)], dropped(u)...)
	if object.Group() == HelmGroup && object.Kind() == "HelmRelease" {
		object.Notes = append(object.Notes, "what its chart installs is not planned: helm-controller does that later")
	}
	if a.k.Name != "" {
		utils.SetCommonMetadata([]*unstructured.Unstructured{u}, a.k.OwnerLabels(), nil)
	}
	if err := normalize.UnstructuredList([]*unstructured.Unstructured{u}); err != nil {
		return object, err
	}
	utils.SetCommonMetadata([]*unstructured.Unstructured{u}, a.k.CommonLabels, a.k.CommonAnnotations)
	utils.RemoveCABundleFromCRD(u)
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp") // null, which says nothing
	object.Content = u.Object
	return object, nil
}

// Treat is the controller's apply of one object.
func (a applier) Treat(desired manifest.Object, live *unstructured.Unstructured) (dryrun.Treatment, error) {
	treatment := dryrun.Treatment{
		Applier:    plan.Applier{Name: Applier, Mode: plan.ModeServerSide, Manager: Manager, Force: true},
		Validation: metav1.FieldValidationWarn,
		Late:       a.k.Controller.late(desired.Key()),
	}
	var present map[string]any
	if live != nil {
		present = live.Object
	}
	if a.k.Name == "" {
		treatment.Notes = append(treatment.Notes, unknown)
	}
	if treatment.Skip = Skip(desired, present); treatment.Skip != "" || live == nil {
		return treatment, nil
	}
	treatment.Before = a.k.Controller.prepare(desired.APIVersion(), Merges(desired.Content) || Merges(present))
	if a.k.Force || Forced(desired, present) {
		treatment.Replaces = func(refusal error) bool { return refusal != nil && ssaerrors.IsImmutableError(refusal) }
	}
	treatment.Unmoved = a.ignored.unmoved
	if a.k.Name == "" {
		treatment.Content = likeLive(desired, present)
	}
	if len(a.ignored) > 0 {
		content := desired.Content
		treatment.Adjust = func(live, merged *unstructured.Unstructured) (map[string]any, error) {
			if treatment.Before != nil {
				live = live.DeepCopy()
				if err := treatment.Before(live); err != nil {
					return nil, err
				}
			}
			return a.ignored.adjust(content, live, merged)
		}
	}
	return treatment, nil
}

// likeLive is an object with the labels of the owner that LIVE names; nil where
// it names none.
func likeLive(desired manifest.Object, live map[string]any) map[string]any {
	labels, present := map[string]string{}, manifest.Object{Content: live}.Labels()
	for _, key := range []string{Group + "/name", Group + "/namespace"} {
		if value := present[key]; value != "" && desired.Labels()[key] == "" {
			labels[key] = value
		}
	}
	if len(labels) == 0 {
		return nil
	}
	out := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(desired.Content)}
	utils.SetCommonMetadata([]*unstructured.Unstructured{out}, labels, nil)
	return out.Object
}

func encrypted(u *unstructured.Unstructured) bool {
	_, sops := u.Object["sops"]
	return sops && utils.IsSecret(u) && find(manifest.Object{Content: u.Object}, "decrypt", "disabled") == ""
}

// dropped names the fields that the kind's Go type does not have, which Flux
// drops without a word.
func dropped(u *unstructured.Unstructured) []string {
	typed, err := scheme.Scheme.New(u.GroupVersionKind())
	if err != nil || utils.IsClusterRole(u) || u.GetKind() == "Role" {
		return nil
	}
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, typed, true)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		var notes []string
		for _, unknown := range strict.Errors() {
			notes = append(notes, "Flux drops what it does not know: "+unknown.Error())
		}
		return notes
	}
	return nil
}
