package argocd

import (
	"errors"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// task is the sync of one object.
type task struct {
	applier
	desired manifest.Object
	live    *unstructured.Unstructured // nil: does not exist
	seen    *unstructured.Unstructured // LIVE, unless Argo CD does not see it
	options Options
	ignored rules
}

// treat decides, in the controller's order: compare, keep what is ignored,
// write. The type counts where managers are ignored.
func (o task) treat(kind typed.ParseableType) (dryrun.Treatment, error) {
	t := dryrun.Treatment{
		Applier:    plan.Applier{Name: Applier, Manager: Manager},
		Skip:       o.options.Skip,
		Validation: metav1.FieldValidationWarn,
	}
	if o.options.OutOfSyncOnly && o.seen != nil {
		if err := o.compare(&t, kind); err != nil {
			return t, err
		}
	}
	if o.options.IgnoreDifferences && o.seen != nil {
		if err := o.keepIgnored(&t, kind); err != nil {
			return t, err
		}
	}
	if o.options.Replace && o.live != nil && o.seen == nil {
		return t, errors.New("settings of Argo CD hide the live object from it, so that it creates the object, which exists")
	}
	o.write(&t)
	return t, nil
}

// write is the request that Argo CD makes.
func (o task) write(t *dryrun.Treatment) {
	switch {
	case o.options.Replace:
		o.replace(t)
	case o.options.ServerSide:
		o.serverSide(t)
	default:
		o.clientSide(t)
	}
}

func contentOf(object *unstructured.Unstructured) map[string]any {
	if object == nil {
		return nil
	}
	return object.Object
}

// compare leaves alone what Argo CD's own comparison finds in sync. Where it
// compares by a dry run of its own, that is asked later.
func (o task) compare(t *dryrun.Treatment, kind typed.ParseableType) error {
	if o.a.ServerSideDiff() {
		if o.options.ServerSide && !o.options.Replace {
			_, clear := o.desired.Content["stringData"]
			t.Leaves = func(live, merged *unstructured.Unstructured) bool {
				return o.same(o.ignored, live, merged, kind, clear)
			}
		}
	} else {
		still, err := o.inSync(o.ignored, o.desired, o.seen, kind)
		if err != nil {
			return err
		}
		t.Still = still
	}
	t.Notes = append(t.Notes, "ApplyOutOfSyncOnly: Argo CD leaves it as it is if its own comparison finds no difference")
	return nil
}

// keepIgnored puts into the object what is ignored of LIVE.
func (o *task) keepIgnored(t *dryrun.Treatment, kind typed.ParseableType) error {
	content, err := o.respect(o.ignored, o.desired, o.seen, kind)
	if err != nil {
		return err
	}
	before, err := remarshalled(o.desired.Content)
	if err != nil {
		return err
	}
	if reflect.DeepEqual(before.Object, content) {
		return nil
	}
	for _, rule := range o.ignored.said {
		t.Notes = append(t.Notes, "RespectIgnoreDifferences keeps "+rule+" as it is")
	}
	o.desired.Content, t.Content = content, content
	return nil
}

// replace sends objects whole. Forced, it deletes and creates them at each
// sync, but for kinds that others live in.
func (o task) replace(t *dryrun.Treatment) {
	t.Applier.Mode, t.Applier.Manager = plan.ModePut, ReplaceManager
	if o.live == nil {
		if t.Validation = metav1.FieldValidationStrict; !o.options.Validate {
			t.Validation = metav1.FieldValidationIgnore
		}
		t.Applier.Manager = ReplaceManager
		return
	}
	if o.options.Force && !isCRD(o.desired) && o.desired.Kind() != "Namespace" {
		t.Applier.Force = true
		t.Replaces = func(error) bool { return true }
	}
}

// serverSide is `kubectl apply --server-side --force-conflicts`, after a
// migration from client-side apply. Force of the sync does not count here.
func (o task) serverSide(t *dryrun.Treatment) {
	t.Applier.Mode, t.Applier.Force = plan.ModeServerSide, true
	t.After = func(object *unstructured.Unstructured) error { return dryrun.MigrateClientSide(object, Manager) }
	if from := o.options.Migrate; from != "" && (o.seen != nil || o.live == nil) {
		t.Before = func(object *unstructured.Unstructured) error { return migrate(object, from) }
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
func (o task) clientSide(t *dryrun.Treatment) {
	t.Applier.Mode, t.Applier.Force = plan.ModeClientSide, o.options.Force
	if o.options.Force {
		t.Replaces = dryrun.ReplacesRefused
	}
	if o.live == nil || o.desired.APIVersion() != "rbac.authorization.k8s.io/v1" || autoupdateOff(o.live.Object) {
		return
	}
	if anotherRole(o.desired.Content, o.live.Object) {
		t.Replaces = func(error) bool { return true }
		t.Notes = append(t.Notes, "Argo CD deletes a binding and creates it anew where its roleRef is another")
	}
	if _, wanted := o.desired.Content["aggregationRule"]; !wanted && o.live.Object["aggregationRule"] != nil {
		t.Content = with(o.desired.Content, "aggregationRule", nil)
	}
}
