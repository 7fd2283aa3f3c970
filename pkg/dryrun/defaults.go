package dryrun

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/changeward/changeward/pkg/diff"
)

// isDefault says that an addition is a default after all. Managed fields own
// an atomic list or map as a whole, so that a default inside of one cannot be
// told from what admission adds: those are known by the server's schema, or
// from the list below. So are the finalizers that the server gives to each
// object of a kind. All else counts as admission's.
func isDefault(gvk schema.GroupVersionKind, added diff.Transition, s *diff.Schema) bool {
	if added.Action != diff.Add {
		return false
	}
	pattern := regexp.MustCompile(`\[\d+\]`).ReplaceAllString(added.Path, "[*]")
	for _, known := range append(defaultsOf(gvk.GroupKind()), templateDefaults()...) {
		if strings.HasSuffix("."+pattern, "."+known.path) && diff.Equal(known.value, added.New) {
			return true
		}
	}
	return isSchemaDefault(added, s)
}

// fixed is a value that the server gives every object: path is the end of its
// path, [*] any index.
type fixed struct {
	path  string
	value any
}

func defaultsOf(kind schema.GroupKind) []fixed {
	switch kind.String() {
	case "Namespace":
		return []fixed{{"spec.finalizers", []any{"kubernetes"}}}
	case "PersistentVolumeClaim":
		return []fixed{
			{`metadata.finalizers[="kubernetes.io/pvc-protection"]`, "kubernetes.io/pvc-protection"},
			{"spec.dataSource.apiGroup", nil},
			{"spec.dataSourceRef.apiGroup", nil},
		}
	case "PersistentVolume":
		return []fixed{{`metadata.finalizers[="kubernetes.io/pv-protection"]`, "kubernetes.io/pv-protection"}}
	case "StatefulSet.apps":
		return []fixed{
			{"spec.volumeClaimTemplates[*].apiVersion", "v1"},
			{"spec.volumeClaimTemplates[*].kind", "PersistentVolumeClaim"},
			{"spec.volumeClaimTemplates[*].spec.dataSource.apiGroup", nil},
			{"spec.volumeClaimTemplates[*].spec.volumeMode", "Filesystem"},
			{"spec.volumeClaimTemplates[*].status.phase", "Pending"},
		}
	case "NetworkPolicy.networking.k8s.io":
		return []fixed{{"spec.ingress[*].ports[*].protocol", "TCP"}, {"spec.egress[*].ports[*].protocol", "TCP"}}
	case "RoleBinding.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io":
		return []fixed{{"roleRef.apiGroup", "rbac.authorization.k8s.io"}, {"subjects[*].apiGroup", "rbac.authorization.k8s.io"}}
	case "Endpoints":
		return []fixed{{"subsets[*].ports[*].protocol", "TCP"}}
	case "EndpointSlice.discovery.k8s.io":
		return []fixed{{"ports[*].name", ""}, {"ports[*].protocol", "TCP"}}
	case "ResourceClaim.resource.k8s.io", "ResourceClaimTemplate.resource.k8s.io":
		return []fixed{
			{"devices.requests[*].exactly.allocationMode", "ExactCount"},
			{"devices.requests[*].exactly.count", int64(1)},
			{"devices.requests[*].firstAvailable[*].allocationMode", "ExactCount"},
			{"devices.requests[*].firstAvailable[*].count", int64(1)},
		}
	}
	return nil
}

// templateDefaults are those inside of Pods, of templates for them, and of Jobs
// around these.
func templateDefaults() []fixed {
	return []fixed{
		{"projected.sources[*].serviceAccountToken.expirationSeconds", int64(3600)},
		{"fieldRef.apiVersion", "v1"},
		{"resourceFieldRef.divisor", "0"},
		{"podFailurePolicy.rules[*].onPodConditions[*].status", "True"},
		{"metadata.creationTimestamp", nil},
		{"template.metadata", map[string]any{}},
		{"jobTemplate.metadata", map[string]any{}},
	}
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
