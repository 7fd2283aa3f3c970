package plan

import (
	"strings"

	"github.com/changeward/changeward/pkg/manifest"
)

// homes are what an object dies with: its namespace, and the definition of its
// kind.
func homes(k manifest.Key) []string {
	return []string{"namespace/" + k.Namespace, "kind/" + k.Group + "/" + k.Kind}
}

// home is what dies with a deleted namespace or definition, and what to call
// it; "" where nothing does.
func (r Removal) home() (home, what string) {
	switch r.Key.Group + "/" + r.Key.Kind {
	case "/Namespace":
		return "namespace/" + r.Key.Name, "namespace " + r.Key.Name
	case "apiextensions.k8s.io/CustomResourceDefinition":
		spec, _ := r.Live["spec"].(map[string]any)
		names, _ := spec["names"].(map[string]any)
		group, _ := spec["group"].(string)
		kind, _ := names["kind"].(string)
		return "kind/" + group + "/" + kind, "kind " + r.Key.Name
	}
	return "", ""
}

// count notes what an object of the manifests that lives would die with.
func (b *builder) count(o Observation) {
	if o.Live == nil {
		return
	}
	for _, home := range homes(o.Object.Key()) {
		b.living[home]++
	}
}

// noteDying says of what is in a namespace that goes, or of a kind that goes,
// that it goes as well.
func (b *builder) noteDying() {
	note := func(c *Change) {
		for _, home := range homes(c.Body.Key()) {
			if what, dies := b.dying[home]; dies && c.Body.Operation != Delete {
				c.Notes = append(c.Notes, "its "+what+" is deleted by this plan, and the object with it")
			}
		}
	}
	for i := range b.changed {
		note(&b.changed[i].Change)
	}
	for i := range b.plan.Unchanged {
		note(&b.plan.Unchanged[i])
	}
}

// DeletionText says what goes with a deleted object, in one line; "" where
// nothing does.
func DeletionText(b Body) string {
	d := b.Delete
	if d == nil || len(d.Contents) == 0 {
		return ""
	}
	total := 0
	for _, n := range d.Contents {
		total += n
	}
	name := b.Key().String()
	if b.Group == "" && b.Kind == "Namespace" {
		name = "Namespace " + b.Name
	}
	text := "deletes " + name + ", which contains " + plural(d.Wanted, "object") + " of this plan and " + plural(max(total-d.Wanted, 0), "other")
	if len(d.Claims) > 0 {
		text += " (PVC " + listed(d.Claims) + ")"
	}
	return text
}

// deletionDetail is what makes a delete graver than others.
func deletionDetail(b Body) string {
	text := DeletionText(b)
	if b.Delete == nil || !strings.EqualFold(strings.TrimSpace(b.Delete.Guards[helmPolicy]), "keep") {
		return text
	}
	if text != "" {
		text += "; "
	}
	return text + "Helm was told to keep it"
}

// helmPolicy is an annotation that only Helm honours.
const helmPolicy = "helm.sh/resource-policy"
