package dryrun

import (
	"regexp"

	"k8s.io/apimachinery/pkg/runtime/schema"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/changeward/changeward/pkg/diff"
)

// isDefault says that an addition is a default after all. Managed fields own
// an atomic list as a whole, so that a default inside of one cannot be told
// from what admission adds: those are known by the server's schema, or from
// the list below. So are the finalizers that the server gives to each object
// of a kind. All else counts as admission's.
func isDefault(gvk schema.GroupVersionKind, added diff.Transition, s *diff.Schema) bool {
	if added.Action != diff.Add {
		return false
	}
	pattern := regexp.MustCompile(`\[\d+\]`).ReplaceAllString(added.Path, "[*]")
	for _, known := range constantsOf(gvk.GroupKind()) {
		if known.path == pattern && diff.Equal(known.value, added.New) {
			return true
		}
	}
	return pattern != added.Path && isSchemaDefault(added, s)
}

// constant is a value that the server gives every object of a kind.
type constant struct {
	path  string
	value any
}

func constantsOf(kind schema.GroupKind) []constant {
	switch kind {
	case schema.GroupKind{Kind: "Namespace"}:
		return []constant{{"spec.finalizers", []any{"kubernetes"}}}
	case schema.GroupKind{Kind: "PersistentVolumeClaim"}:
		return []constant{{`metadata.finalizers[="kubernetes.io/pvc-protection"]`, "kubernetes.io/pvc-protection"}}
	case schema.GroupKind{Kind: "PersistentVolume"}:
		return []constant{{`metadata.finalizers[="kubernetes.io/pv-protection"]`, "kubernetes.io/pv-protection"}}
	case schema.GroupKind{Group: "apps", Kind: "StatefulSet"}:
		return []constant{
			{"spec.volumeClaimTemplates[*].apiVersion", "v1"},
			{"spec.volumeClaimTemplates[*].kind", "PersistentVolumeClaim"},
			{"spec.volumeClaimTemplates[*].spec.volumeMode", "Filesystem"},
			{"spec.volumeClaimTemplates[*].status.phase", "Pending"},
		}
	}
	return nil
}

// isSchemaDefault looks the field up in the server's own schema.
func isSchemaDefault(added diff.Transition, s *diff.Schema) bool {
	steps, ok := diff.ParsePath(added.Path)
	if !ok || s == nil {
		return false
	}
	atom := rootAtom(s)
	var field smd.StructField
	for _, step := range steps {
		field = smd.StructField{}
		if step.Selector != "" {
			atom = elementAtom(s, atom)
			continue
		}
		if atom.Map != nil {
			field, _ = atom.FindField(step.Key)
		}
		atom = memberAtom(s, atom, step.Key)
	}
	return field.Default != nil && diff.Equal(field.Default, added.New)
}
