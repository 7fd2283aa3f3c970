package argocd

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// NewApplier is the application controller as it syncs an Application of an
// install. One without a name marks nothing.
func NewApplier(a *Application, s Settings) dryrun.Applier { return applier{a, s} }

type applier struct {
	a *Application
	s Settings
}

func (applier) Hooks() bool { return true }

// Desired is the object as the repository server hands it over: marked.
func (p applier) Desired(object manifest.Object) (manifest.Object, error) {
	if p.a.Name == "" {
		return object, nil
	}
	return p.a.mark(object, p.s), nil
}

// Treat is the controller's sync of one object.
func (p applier) Treat(desired manifest.Object, live *unstructured.Unstructured) (dryrun.Treatment, error) {
	var present map[string]any
	if live != nil {
		present = live.Object
	}
	if p.s.invalid != nil {
		return dryrun.Treatment{}, p.s.invalid
	}
	options := p.a.Options(desired, present)
	if options.Skip == "" && p.s.excludes(desired) {
		options.Skip = "Argo CD does not apply it: its settings exclude the kind"
	}
	treatment := dryrun.Treatment{
		Applier:    plan.Applier{Name: Applier, Manager: Manager},
		Skip:       options.Skip,
		Validation: metav1.FieldValidationWarn,
	}
	if options.OutOfSyncOnly {
		treatment.Notes = append(treatment.Notes,
			"ApplyOutOfSyncOnly: Argo CD leaves it as it is while its own comparison finds no difference")
	}
	if options.IgnoreDifferences && live != nil {
		content, notes, err := p.a.keepIgnored(desired, present)
		if err != nil {
			return treatment, err
		}
		if content != nil {
			treatment.Content, treatment.Notes = content, append(treatment.Notes, notes...)
		}
	}
	switch {
	case options.Replace:
		replace(&treatment, desired, options.Force)
	case options.ServerSide:
		serverSide(&treatment, options.Migrate)
	default:
		clientSide(&treatment, desired, present, options.Force)
	}
	return treatment, nil
}

// replace sends objects whole. Forced, it deletes and creates them at each
// sync, but for kinds that others live in.
func replace(treatment *dryrun.Treatment, desired manifest.Object, force bool) {
	treatment.Applier.Mode = plan.ModePut
	if force && !isCRD(desired) && desired.Kind() != "Namespace" {
		treatment.Applier.Force = true
		treatment.Replaces = func(error) bool { return true }
	}
}

// serverSide is `kubectl apply --server-side --force-conflicts`, after a
// migration from client-side apply. Force of the sync does not count here.
func serverSide(treatment *dryrun.Treatment, from string) {
	treatment.Applier.Mode, treatment.Applier.Force = plan.ModeServerSide, true
	treatment.After = func(object *unstructured.Unstructured) error { return dryrun.MigrateClientSide(object, Manager) }
	if from != "" {
		treatment.Before = func(object *unstructured.Unstructured) error { return migrate(object, from) }
	}
}

// migrate moves what a manager holds by updates to Argo CD's own applies.
func migrate(object *unstructured.Unstructured, from string) error {
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == from && entry.Operation == metav1.ManagedFieldsOperationUpdate {
			return csaupgrade.UpgradeManagedFields(object, sets.New(from), Manager)
		}
	}
	return nil
}

// clientSide is `kubectl apply`, before which RBAC objects go through
// `kubectl auth reconcile`.
func clientSide(treatment *dryrun.Treatment, desired manifest.Object, live map[string]any, force bool) {
	treatment.Applier.Mode, treatment.Applier.Force = plan.ModeClientSide, force
	if force {
		treatment.Replaces = dryrun.ReplacesRefused
	}
	if live == nil || desired.APIVersion() != "rbac.authorization.k8s.io/v1" || autoupdateOff(live) {
		return
	}
	if anotherRole(desired.Content, live) {
		treatment.Replaces = func(error) bool { return true }
		treatment.Notes = append(treatment.Notes, "Argo CD deletes a binding and creates it anew where its roleRef is another")
	}
	if _, wanted := desired.Content["aggregationRule"]; !wanted && live["aggregationRule"] != nil {
		content := treatment.Content
		if content == nil {
			content = desired.Content
		}
		treatment.Content = with(content, "aggregationRule", nil)
	}
}

// autoupdateOff is how an object opts out of `kubectl auth reconcile`.
func autoupdateOff(live map[string]any) bool {
	return manifest.Object{Content: live}.Annotations()["rbac.authorization.kubernetes.io/autoupdate"] == "false"
}

// anotherRole says whether two versions of a binding are about different
// roles. No default is filled in.
func anotherRole(desired, live map[string]any) bool {
	wanted, ours := desired["roleRef"].(map[string]any)
	present, theirs := live["roleRef"].(map[string]any)
	if !ours || !theirs {
		return false
	}
	for _, field := range []string{"apiGroup", "kind", "name"} {
		is, _ := present[field].(string)
		if should, _ := wanted[field].(string); is != should {
			return true
		}
	}
	return false
}

func isCRD(o manifest.Object) bool {
	return o.Group() == "apiextensions.k8s.io" && o.Kind() == "CustomResourceDefinition"
}
