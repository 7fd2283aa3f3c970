package plan

import (
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/state"
)

// irreversible says why applying the recorded before-state again would not
// restore what was there; "" means that it would. Hooks do not count: they are
// a risk of their own.
func irreversible(b Body) string {
	switch b.Operation {
	case Delete:
		return lostByDelete(b)
	case Replace:
		return "the object is deleted and created anew"
	case Create:
		if runs(b) {
			return "what the Job does cannot be undone"
		}
		return ""
	case Update:
		for _, t := range b.Transitions {
			if why := lostByUpdate(b, t); why != "" {
				return why
			}
		}
		if b.Group == "batch" && b.Kind == "Job" {
			return "what the Job does cannot be undone"
		}
	}
	return ""
}

// lostByDelete errs to the safe side: only kinds that are nothing but their
// manifest come back whole.
func lostByDelete(b Body) string {
	switch b.Group + "/" + b.Kind {
	case "/ConfigMap", "/LimitRange", "/ResourceQuota",
		"apps/Deployment", "apps/DaemonSet", "batch/CronJob",
		"autoscaling/HorizontalPodAutoscaler", "policy/PodDisruptionBudget",
		"networking.k8s.io/NetworkPolicy", "networking.k8s.io/IngressClass",
		"rbac.authorization.k8s.io/Role", "rbac.authorization.k8s.io/ClusterRole",
		"rbac.authorization.k8s.io/RoleBinding", "rbac.authorization.k8s.io/ClusterRoleBinding",
		"scheduling.k8s.io/PriorityClass", "node.k8s.io/RuntimeClass", "storage.k8s.io/StorageClass",
		"admissionregistration.k8s.io/ValidatingWebhookConfiguration",
		"admissionregistration.k8s.io/MutatingWebhookConfiguration",
		"admissionregistration.k8s.io/ValidatingAdmissionPolicy",
		"admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
		"admissionregistration.k8s.io/MutatingAdmissionPolicy",
		"admissionregistration.k8s.io/MutatingAdmissionPolicyBinding":
		return ""
	case "/Namespace":
		return "everything in the namespace goes with it"
	case "/Secret":
		return "the values are not kept"
	case "/PersistentVolumeClaim", "/PersistentVolume":
		return "the data goes with it"
	case "apiextensions.k8s.io/CustomResourceDefinition":
		return "every object of the kind goes with it"
	default:
		return "data or identity that it holds may go with it"
	}
}

func lostByUpdate(b Body, t diff.Transition) string {
	plain := plainOf(t.Path)
	volume := b.Group == "" && (b.Kind == "PersistentVolumeClaim" || b.Kind == "PersistentVolume") && under(plain, "spec")
	switch {
	case hasMasked(t.Old):
		return "the old value of " + t.Path + " is not kept"
	case volume || storageField(plain):
		return "a storage or reclaim change: " + t.Path
	case plain == "immutable" && t.New == true:
		return "an immutable object cannot be made mutable again"
	case b.Kind == "CustomResourceDefinition" && under(plain, "spec.versions") && (t.Action == diff.Remove || t.Path == "spec.versions"):
		return "fields that the schema no longer has are dropped from objects: " + t.Path
	case b.Group == "" && b.Kind == "Service" && plain == "spec.type" && t.Old == "LoadBalancer":
		return "the load balancer's address is given up"
	case b.Kind == "Namespace" && strings.HasPrefix(plain, "metadata.deletionTimestamp"):
		return "everything in the namespace goes with it"
	}
	return ""
}

// runs says whether a Job will run: one that is suspended waits.
func runs(b Body) bool {
	if b.Group != "batch" || b.Kind != "Job" {
		return false
	}
	object, _ := b.Object.(map[string]any)
	spec, _ := object["spec"].(map[string]any)
	return spec["suspend"] != true
}

func hasMasked(value any) bool {
	switch v := value.(type) {
	case state.Masked:
		return true
	case map[string]any:
		for _, member := range v {
			if hasMasked(member) {
				return true
			}
		}
	case []any:
		for _, entry := range v {
			if hasMasked(entry) {
				return true
			}
		}
	}
	return false
}
