package dryrun

import (
	"context"
	"fmt"
	"maps"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// attempts is how often an object is observed until LIVE and MERGED are of one
// moment. On a slow machine one look takes a third of a second, in which a busy
// object may well be written to.
const attempts = 10

// moment is what the server said about one object at one resourceVersion. All
// values are the real ones.
type moment struct {
	live   *unstructured.Unstructured // nil: does not exist
	merged *unstructured.Unstructured
	posted *unstructured.Unstructured // of a create: the object before SSA, see admission.go
	taken  []conflict                 // fields that force takes from others

	treatment Treatment
	plain     *unstructured.Unstructured // MERGED without what the applier rewrites first
	rewritten bool                       // it rewrites something
	accepted  bool                       // the server has taken the patch once
	pending   bool                       // MERGED is not what it seems: someone wrote in between
	replaced  bool                       // LIVE is deleted, and MERGED created
}

// settled says that LIVE and MERGED are of one moment: nobody wrote in
// between. A dry run of a create has no resourceVersion.
func (m moment) settled() bool {
	switch {
	case m.treatment.Skip != "":
		return true
	case m.pending || m.merged == nil:
		return false
	case m.replaced:
		return true
	case m.live == nil:
		return m.merged.GetResourceVersion() == "" && m.posted != nil
	}
	return m.live.GetResourceVersion() == m.merged.GetResourceVersion()
}

// moment observes until both are of one moment. On an object that others write
// all the time, LIVE before and after must be equal but for its status. The
// moment is returned with the error, as far as it came.
func (o *observer) moment(ctx context.Context, t *target) (m moment, err error) {
	for range attempts {
		if m, err = o.look(ctx, t); err != nil || m.settled() {
			return m, err
		}
	}
	after, err := t.get(ctx)
	if err != nil {
		return m, err
	}
	if m.live == nil || after == nil || m.pending || m.merged == nil || !equalButStatus(m.live, after, t) {
		return m, errMoving{}
	}
	m.live = after
	return m, nil
}

// look asks once: LIVE, MERGED, and for a create what admission adds.
func (o *observer) look(ctx context.Context, t *target) (m moment, err error) {
	var known bool
	if m.live, known = o.listed.take(t); !known {
		if m.live, err = t.get(ctx); err != nil {
			return m, err
		}
	}
	if m.treatment, err = o.treat(ctx, t, m.live); err != nil || m.treatment.Skip != "" {
		return m, err
	}
	if m.treatment.Still && m.live != nil {
		m.merged, m.pending = m.live, known // what a list said of it may be old
		return m, nil
	}
	if m.live == nil || !m.treatment.replaces(nil) {
		err = o.ask(ctx, t, &m)
	}
	if m.live != nil && !m.accepted && m.treatment.replaces(err) {
		err = o.replace(ctx, t, &m)
		m.pending = known // what a list said of it may be old
	}
	return m, err
}

// ask makes the dry run of the treatment's mode.
func (o *observer) ask(ctx context.Context, t *target, m *moment) error {
	switch m.treatment.Applier.Mode {
	case plan.ModeClientSide:
		return o.clientSide(ctx, t, m)
	case plan.ModePut:
		return o.whole(ctx, t, m)
	}
	if err := o.serverSide(ctx, t, m); err != nil || m.live == nil {
		return err
	}
	m.accepted = true
	return o.secondThoughts(ctx, t, m)
}

// secondThoughts are what the applier does once it has seen the dry run of an
// object that exists.
func (o *observer) secondThoughts(ctx context.Context, t *target, m *moment) error {
	if m.settled() && m.treatment.Leaves != nil && m.treatment.Leaves(m.live, m.merged) {
		m.merged = m.live
		return nil
	}
	needed, err := rewrites(m)
	if err != nil {
		return err
	}
	if !needed && m.settled() && m.treatment.Unmoved != nil && m.treatment.Unmoved(m.live, m.merged) {
		m.merged = m.live
		return nil
	}
	if m.treatment.Adjust != nil {
		content, err := m.treatment.Adjust(m.live, m.merged)
		if err != nil {
			return fmt.Errorf("the applier would fail: %w", err)
		}
		if content != nil {
			m.treatment.Content, m.taken = content, nil
			if err := o.serverSide(ctx, t, m); err != nil {
				return err
			}
		}
	}
	if !needed {
		return nil
	}
	return o.rewrite(ctx, t, m)
}

// treat asks the applier what becomes of an object.
func (o *observer) treat(ctx context.Context, t *target, live *unstructured.Unstructured) (Treatment, error) {
	treatment, err := o.options.Applier.Treat(t.object, live)
	if err == nil && treatment.Typed != nil {
		var s *diff.Schema
		if s, err = o.index.published(ctx, t.gvk); err != nil {
			return treatment, err
		}
		notes := treatment.Notes
		treatment, err = treatment.Typed(newTypeConverter(s).kind)
		treatment.Notes = append(notes, treatment.Notes...)
	}
	if err != nil {
		return treatment, fmt.Errorf("the applier would fail: %w", err)
	}
	if len(t.object.Stripped) > 0 && treatment.Applier.Name != Manager {
		treatment.giveBack(t.object, live)
	}
	if treatment.Applier.Mode == plan.ModeServerSide {
		if read := readBack(t.content(treatment)); read != nil {
			treatment.Content = read
			treatment.Notes = append(treatment.Notes, "the manifest has U+0085 (next line), which a server-side apply stores as a space or a line feed")
		}
	}
	return treatment, nil
}

// giveBack sends what was taken out of the object on reading: only changeward
// itself applies without that.
func (t *Treatment) giveBack(desired manifest.Object, live *unstructured.Unstructured) {
	content := desired.Content
	if t.Content != nil {
		content = t.Content
	}
	t.Content = desired.Unstripped(content)
	if metadata, ok := t.Content["metadata"].(map[string]any); ok && live == nil {
		t.Content["metadata"] = without(metadata, "resourceVersion") // no lock on what does not exist
	}
}

// serverSide asks what a server-side apply would leave.
func (o *observer) serverSide(ctx context.Context, t *target, m *moment) (err error) {
	m.merged, err = t.apply(ctx, m.treatment, false)
	if conflicts := conflictsOf(err); m.treatment.Applier.Force && len(conflicts) > 0 {
		m.taken = conflicts
		m.merged, err = t.apply(ctx, m.treatment, true)
	}
	if err != nil || m.live != nil || m.merged.GetResourceVersion() != "" {
		return err
	}
	m.posted, err = t.create(ctx, t.content(m.treatment), m.treatment)
	if apierrors.IsAlreadyExists(err) {
		m.posted, err = nil, nil // someone created it just now: look again
	}
	return err
}

// errMoving is why an object that never holds still cannot be planned.
type errMoving struct{}

func (errMoving) Error() string {
	return "others write the object all the time: no two of its states were of one moment"
}

// equalButStatus compares what is not bookkeeping: a controller that writes
// status moves resourceVersion and managedFields, and nothing that is planned.
func equalButStatus(a, b *unstructured.Unstructured, t *target) bool {
	left, right := bare(a, t), bare(b, t)
	for _, object := range []map[string]any{left, right} {
		if metadata, ok := object["metadata"].(map[string]any); ok {
			delete(metadata, "resourceVersion")
		}
	}
	return reflect.DeepEqual(left, right)
}

// without is a shallow copy that lacks some members.
func without(m map[string]any, keys ...string) map[string]any {
	out := maps.Clone(m)
	for _, key := range keys {
		delete(out, key)
	}
	return out
}
