package plan

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/state"
)

// checkShape refuses a body whose members do not belong to its operation, or
// whose object is another than it says: such a body would show less, or
// something else, than its digest binds.
func checkShape(b Body) error {
	switch b.Operation {
	case Create, Replace, Hook, Update, Delete:
	default:
		return fmt.Errorf("unknown operation %q", b.Operation)
	}
	withObject := b.Operation == Create || b.Operation == Replace || b.Operation == Hook
	for _, rule := range []struct {
		member    string
		there, ok bool
	}{
		{"transitions", len(b.Transitions) > 0, b.Operation == Update},
		{"object", b.Object != nil, withObject},
		{"delete", b.Delete != nil, b.Operation == Delete},
	} {
		if rule.there != rule.ok {
			return fmt.Errorf("member %s does not fit operation %s", rule.member, b.Operation)
		}
	}
	switch {
	case len(b.Admission) > 0 && (!withObject || b.Operation == Hook):
		return fmt.Errorf("member admission does not fit operation %s", b.Operation)
	case len(b.TakesOver) > 0 && b.Operation != Update:
		return fmt.Errorf("member takesOver does not fit operation %s", b.Operation)
	case len(b.Phases) > 0 && b.Operation != Hook:
		return fmt.Errorf("member phases does not fit operation %s", b.Operation)
	case b.LiveUID != "" && (b.Operation == Create || b.Operation == Hook):
		return fmt.Errorf("member liveUID does not fit operation %s", b.Operation)
	case b.Live != "" && (b.Operation == Create || b.Operation == Hook || !state.IsDigest(b.Live)):
		return fmt.Errorf("member live does not fit operation %s", b.Operation)
	}
	if withObject {
		return checkObject(b)
	}
	return nil
}

func checkObject(b Body) error {
	content, ok := b.Object.(map[string]any)
	if !ok {
		return errors.New("object is no object")
	}
	o := manifest.Object{Content: content}
	if keyOf(o) != b.Key() || o.Version() != b.Version || cmp.Or(o.Name(), o.GenerateName()) == "" {
		return errors.New("object is another one than the change says")
	}
	return nil
}
