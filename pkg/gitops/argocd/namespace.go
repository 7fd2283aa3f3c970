package argocd

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// ManagedMetadata is what Argo CD keeps on the namespace of an Application.
type ManagedMetadata struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// early is what people should know of the namespace that Argo CD makes.
const early = "applied before this gate: with CreateNamespace=true Argo CD writes the namespace beside the hooks of PreSync, and waits for no answer"

// Beside is the Namespace that Argo CD writes though it is none of the manifests; false where it writes none. A Namespace that is a hook does not
// count as one of the manifests.
func (a *Application) Beside(set manifest.Set) (manifest.Object, bool) {
	isIt := func(o manifest.Object) bool {
		_, _, isHook := manifest.Hook(o)
		return !isHook && isNamespace(o) && o.Name() == a.DefaultNamespace
	}
	if !a.has("CreateNamespace=true") || a.DefaultNamespace == "" || slices.ContainsFunc(slices.Concat(set.Objects, set.Refused), isIt) {
		return manifest.Object{}, false
	}
	metadata := map[string]any{"name": a.DefaultNamespace}
	if managed := a.ManagedNamespace; managed != nil {
		annotations := maps.Clone(managed.Annotations)
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[syncOptions] = "ServerSideApply=true"
		metadata["annotations"] = anyOf(annotations)
		if len(managed.Labels) > 0 {
			metadata["labels"] = anyOf(managed.Labels)
		}
	}
	return manifest.Object{Source: a.source(), Notes: []string{early},
		Content: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}}, true
}

func isNamespace(o manifest.Object) bool { return o.Group() == "" && o.Kind() == "Namespace" }

// source of what no manifest shows: the Application itself. No file is named
// so, and has no line.
func (a *Application) source() manifest.Source {
	return manifest.Source{File: "application/" + a.Namespace + "/" + a.Name}
}

// besides says whether an object is the namespace that Argo CD makes.
func (a *Application) besides(o manifest.Object) bool {
	return isNamespace(o) && o.Source == a.source()
}

func anyOf(texts map[string]string) map[string]any {
	out := make(map[string]any, len(texts))
	for key, value := range texts {
		out[key] = value
	}
	return out
}

// treatNamespace is what Argo CD does with the namespace that no manifest
// shows: it compares nothing, ignores nothing, and leaves alone what exists and
// has no managed metadata.
func (p applier) treatNamespace(desired manifest.Object, live *unstructured.Unstructured) (dryrun.Treatment, error) {
	o := task{applier: p, desired: desired, live: live, seen: live, options: p.a.Options(desired, contentOf(live))}
	t := dryrun.Treatment{Applier: plan.Applier{Name: Applier, Manager: Manager}, Validation: metav1.FieldValidationWarn}
	o.write(&t)
	t.Still = live != nil && p.a.ManagedNamespace == nil
	return t, nil
}
