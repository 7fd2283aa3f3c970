package argocd

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

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

// Desired is the object as the repository server hands it over: marked. The
// namespace that Argo CD adds is not.
func (p applier) Desired(object manifest.Object) (manifest.Object, error) {
	if p.a.Name == "" || p.a.besides(object) {
		return object, nil
	}
	return p.a.mark(object, p.s), nil
}

// Treat is the controller's sync of one object.
func (p applier) Treat(desired manifest.Object, live *unstructured.Unstructured) (dryrun.Treatment, error) {
	if p.s.invalid != nil {
		return dryrun.Treatment{}, p.s.invalid
	}
	if p.a.besides(desired) {
		return p.treatNamespace(desired, live)
	}
	ignored, err := p.rules(desired)
	if err != nil {
		return dryrun.Treatment{}, err
	}
	o := task{applier: p, desired: desired, live: live, seen: live, ignored: ignored}
	if live != nil && p.s.hides(live.Object) {
		o.seen = nil
	}
	o.options = p.a.Options(desired, contentOf(o.seen))
	if o.options.Skip == "" && p.s.excludes(desired) {
		o.options.Skip = "Argo CD does not apply it: its settings exclude the kind"
	}
	if o.seen != nil && o.needsType() {
		return dryrun.Treatment{Applier: plan.Applier{Name: Applier, Manager: Manager, Mode: plan.ModeClientSide}, Typed: o.treat}, nil
	}
	return o.treat(typed.DeducedParseableType)
}

// needsType says whether the object's schema counts.
func (o task) needsType() bool {
	byManagers := len(o.ignored.managers) > 0 && (o.options.IgnoreDifferences || o.options.OutOfSyncOnly)
	return byManagers || o.options.OutOfSyncOnly && o.a.ServerSideDiff()
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
