package manifest

import "strings"

// Control are the annotations of an object that steer what an applier does
// with it (Argo CD, Flux, Helm): hooks, sync options and waves, ssa, prune,
// force, reconcile, keep. Labels that Flux reads in the same way have the key
// "label:" and their own. What only says who owns the object is not among
// them. They are hashed, so that no annotation hides an object from a plan.
func Control(o Object) map[string]string {
	out := map[string]string{}
	for key, value := range o.Annotations() {
		if IsControl(key) {
			out[key] = value
		}
	}
	for key, value := range o.Labels() {
		if strings.HasPrefix(key, "kustomize.toolkit.fluxcd.io/") && IsControl(key) {
			out["label:"+key] = value
		}
	}
	return out
}

// IsControl says whether an annotation of this key steers an applier.
func IsControl(key string) bool {
	domain, name, _ := strings.Cut(key, "/")
	switch domain {
	case "argocd.argoproj.io":
		return name != "tracking-id" && name != "installation-id"
	case "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io":
		return name != "name" && name != "namespace" && name != "checksum"
	case "helm.sh":
		return name != "chart"
	default:
		return false
	}
}
