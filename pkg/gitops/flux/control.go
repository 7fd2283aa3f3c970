package flux

import (
	"strings"

	"github.com/changeward/changeward/pkg/manifest"
)

// Skip says why Flux does not apply an object; "" means that it does. Live is
// the object as it is, nil where it does not exist. What disables
// reconciliation counts on either copy, in labels and annotations, in any case
// of letters; IfNotPresent counts in the manifest alone, once the object
// exists.
func Skip(desired manifest.Object, live map[string]any) string {
	for _, mark := range []struct{ name, value string }{{"reconcile", "disabled"}, {"ssa", "Ignore"}} {
		if at := marked(desired, live, mark.name, mark.value); at != "" {
			return "Flux does not apply it: " + at
		}
	}
	if found := find(desired, "ssa", "IfNotPresent"); live != nil && found != "" {
		return "Flux does not apply it: it exists, and the manifest has " + found
	}
	return ""
}

// Forced says whether an object asks to be replaced where it cannot be
// patched, on either copy.
func Forced(desired manifest.Object, live map[string]any) bool {
	return marked(desired, live, "force", "enabled") != ""
}

// Merges says whether an object asks that the managers of others be left alone:
// ssa Merge. It counts on the manifest and on the live object.
func Merges(content map[string]any) bool {
	return find(manifest.Object{Content: content}, "ssa", "Merge") != ""
}

// Keep says why Flux does not delete an object that left the manifests of a
// Kustomization; "" means that it does. Only the live object counts: the
// manifest is gone.
func (k *Kustomization) Keep(live map[string]any) string {
	o := manifest.Object{Content: live}
	labels := o.Labels()
	for key, value := range k.OwnerLabels() {
		if labels[key] != value {
			return "Flux does not delete it: its label " + key + " does not name the Kustomization"
		}
	}
	for _, mark := range []struct{ name, value string }{{"prune", "disabled"}, {"reconcile", "disabled"}, {"ssa", "Ignore"}} {
		if found := find(o, mark.name, mark.value); found != "" {
			return "Flux does not delete it: the live object has " + found
		}
	}
	if !k.Prune {
		return "Flux does not delete it: spec.prune of the Kustomization is false"
	}
	return ""
}

// Guards are the labels and annotations of a live object that Keep looks at,
// and what Helm would.
func Guards(live map[string]any) map[string]string {
	o := manifest.Object{Content: live}
	out := map[string]string{}
	for _, texts := range []map[string]string{o.Labels(), o.Annotations()} {
		for _, key := range []string{Group + "/prune", Group + "/reconcile", Group + "/ssa", "helm.sh/resource-policy"} {
			if value, there := texts[key]; there {
				out[key] = value
			}
		}
	}
	return out
}

// OwnerLabels are the labels that Flux sets on every object of a
// Kustomization.
func (k *Kustomization) OwnerLabels() map[string]string {
	return map[string]string{Group + "/name": k.Name, Group + "/namespace": k.Namespace}
}

// Claim is an owner of Flux that an object names by its labels.
type Claim struct{ Group, Kind, Namespace, Name string }

// Claims are the owners that the labels of an object name. Labels are free
// text: whether the owner exists and lists the object is another matter.
func Claims(o manifest.Object) []Claim {
	var out []Claim
	labels := o.Labels()
	for _, owner := range []struct{ group, kind string }{{Group, "Kustomization"}, {HelmGroup, "HelmRelease"}} {
		name, namespace := labels[owner.group+"/name"], labels[owner.group+"/namespace"]
		if name != "" || namespace != "" {
			out = append(out, Claim{owner.group, owner.kind, namespace, name})
		}
	}
	return out
}

// marked finds a mark on the manifest or the live object, and says where.
func marked(desired manifest.Object, live map[string]any, name, value string) string {
	if found := find(desired, name, value); found != "" {
		return "the manifest has " + found
	}
	if found := find(manifest.Object{Content: live}, name, value); found != "" {
		return "the live object has " + found
	}
	return ""
}

// find looks for a value in the labels and annotations of an object, in any
// case of letters, and returns it as it is written.
func find(o manifest.Object, name, value string) string {
	key := Group + "/" + name
	if is := o.Labels()[key]; strings.EqualFold(is, value) {
		return "label " + key + ": " + is
	}
	if is := o.Annotations()[key]; strings.EqualFold(is, value) {
		return key + ": " + is
	}
	return ""
}
