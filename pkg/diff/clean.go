package diff

import "maps"

// LastApplied is the annotation in which client-side appliers keep what they
// applied last. It is their bookkeeping, no part of a plan.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// templateGeneration is the annotation in which the server counts the changes
// of a DaemonSet's template, by whomever: a generation by another name.
const templateGeneration = "deprecated.daemonset.template.generation"

// Clean copies an object without what no applier decides: uid, managedFields,
// resourceVersion, generation (also that of a DaemonSet's template),
// creationTimestamp, selfLink, the last-applied annotation, and status where the kind has a status subresource (elsewhere
// status is an ordinary field). Annotations that are empty then go as well, so
// that the annotation leaves no trace. The copy shares all deeper values with
// obj; neither is to be changed.
func Clean(obj map[string]any, statusSubresource bool) map[string]any {
	out := make(map[string]any, len(obj))
	for key, value := range obj {
		switch {
		case key == "metadata":
			out[key] = cleanMetadata(value, obj["kind"] == "DaemonSet")
		case key == "status" && statusSubresource:
		default:
			out[key] = value
		}
	}
	return out
}

func cleanMetadata(value any, isDaemonSet bool) any {
	metadata, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := make(map[string]any, len(metadata))
	for key, member := range metadata {
		switch key {
		case "uid", "managedFields", "resourceVersion", "generation", "creationTimestamp", "selfLink":
		default:
			out[key] = member
		}
	}
	if annotations, ok := out["annotations"].(map[string]any); ok {
		annotations = maps.Clone(annotations)
		delete(annotations, LastApplied)
		if isDaemonSet {
			delete(annotations, templateGeneration)
		}
		out["annotations"] = annotations
		if len(annotations) == 0 {
			delete(out, "annotations")
		}
	}
	return out
}
