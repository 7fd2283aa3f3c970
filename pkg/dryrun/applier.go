package dryrun

import (
	"cmp"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Applier is who will really apply a set: all in which appliers differ. The
// observer calls it from many goroutines at once, first Desired, once for each
// object, and then Treat, for each look at that object.
type Applier interface {
	// Hooks says whether the applier knows hooks. One that does not applies
	// them like all other objects.
	Hooks() bool
	// Desired is the object as the applier sends it: normalised, with the
	// labels and annotations that the applier adds. It copies what it changes.
	// An error is why the applier refuses the object.
	Desired(object manifest.Object) (manifest.Object, error)
	// Treat decides what becomes of an object. LIVE is nil where the object
	// does not exist, or is not known yet; it is not to be changed. An error is
	// why the applier fails.
	Treat(desired manifest.Object, live *unstructured.Unstructured) (Treatment, error)
}

// Treatment is what an applier does with one object. Applier alone is
// required; its mode decides which request is made.
type Treatment struct {
	// Applier is what the plan reports of it.
	Applier plan.Applier
	// Skip says why the applier leaves the object alone; "" means that it does
	// not.
	Skip string
	// Content is sent in place of the desired object where that depends on
	// LIVE; nil means the desired object.
	Content map[string]any
	// Validation of unknown fields, as fieldValidation of a request has it; ""
	// means Strict.
	Validation string
	// Before and After change managed fields and annotations, in place, as the
	// applier does before it sends its patch, and after that. Before is given
	// LIVE; After what the patch has made of it, and when it changes anything,
	// the patch is sent again. They count in mode server-side only; nil
	// changes nothing.
	Before, After func(object *unstructured.Unstructured) error
	// Replaces says whether the applier deletes the object and creates it
	// anew, where the server refused the dry run with this error; nil is no
	// refusal. It is asked for objects that exist. nil means never.
	Replaces func(refusal error) bool
	// Adjust is what the applier sends instead, having seen what a dry run makes
	// of LIVE; nil content means the same again. An error is why it fails. It
	// counts in mode server-side only, for objects that exist.
	Adjust func(live, merged *unstructured.Unstructured) (map[string]any, error)
	// Unmoved says that the applier, having seen what a dry run makes of LIVE,
	// sends nothing. It is not asked where Before or After had something to
	// change. nil means that it always sends.
	Unmoved func(live, merged *unstructured.Unstructured) bool
	// Late says of an object of the same set, which this one needs, whether the
	// applier asks for this one before it has made that. nil means never.
	Late func(needed manifest.Key) bool
	// Leaves says that the applier, having seen what a dry run makes of LIVE,
	// does nothing at all, not even what Before and After would. It counts in
	// mode server-side only; nil means that it goes on.
	Leaves func(live, merged *unstructured.Unstructured) bool
	// Still says that the applier knows, without asking, that it leaves LIVE as
	// it is.
	Still bool
	// Typed, where set, is asked for the treatment instead, once the server's
	// schema of the kind is known.
	Typed func(kind typed.ParseableType) (Treatment, error)
	// Notes are for people, where something changes.
	Notes []string
}

func (t Treatment) validation() string { return cmp.Or(t.Validation, metav1.FieldValidationStrict) }

// replaces asks Replaces.
func (t Treatment) replaces(refusal error) bool { return t.Replaces != nil && t.Replaces(refusal) }

// Changeward is the applier of the direct lane: server-side apply as
// changeward, which rewrites no managed fields. Force takes fields over from
// other managers.
func Changeward(force bool) Applier {
	return changeward{plan.Applier{Name: Manager, Mode: plan.ModeServerSide, Manager: Manager, Force: force}}
}

type changeward struct{ applier plan.Applier }

func (changeward) Hooks() bool { return true }

func (changeward) Desired(object manifest.Object) (manifest.Object, error) { return object, nil }

func (c changeward) Treat(manifest.Object, *unstructured.Unstructured) (Treatment, error) {
	return Treatment{Applier: c.applier}, nil
}

// Restoring is the applier of a rollback: it writes whole objects, as reverted
// makes them of the live ones; what reverted does not know, it applies as
// Changeward does.
func Restoring(reverted func(key manifest.Key) func(live map[string]any) map[string]any) Applier {
	return restoring{reverted}
}

type restoring struct {
	reverted func(key manifest.Key) func(live map[string]any) map[string]any
}

func (restoring) Hooks() bool { return false }

func (restoring) Desired(object manifest.Object) (manifest.Object, error) { return object, nil }

func (r restoring) Treat(desired manifest.Object, live *unstructured.Unstructured) (Treatment, error) {
	revert := r.reverted(desired.Key())
	if revert == nil {
		return Changeward(false).Treat(desired, live)
	}
	t := Treatment{Applier: plan.Applier{Name: Manager, Mode: plan.ModePut, Manager: Manager}}
	if live == nil {
		return t, errors.New("the object is not there any more, so its fields cannot be put back")
	}
	t.Content = revert(live.Object)
	return t, nil
}
