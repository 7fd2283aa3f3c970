package dryrun

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubectl/pkg/util"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// whole asks what an update of the whole object would leave: every field that
// the manifest lacks goes.
func (o *observer) whole(ctx context.Context, t *target, m *moment) error {
	content := runtime.DeepCopyJSON(t.content(m.treatment))
	if m.live == nil {
		return t.createOnly(ctx, content, m)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetResourceVersion(m.live.GetResourceVersion())
	merged, err := t.put(ctx, object, m.treatment.Applier.Manager, m.treatment.validation())
	if err == nil {
		m.merged = merged
	}
	return unlessRaced(err)
}

// replace asks whether the object could be created again after the applier has
// deleted it. LIVE is in the way of its name, so the dry run takes another.
func (o *observer) replace(ctx context.Context, t *target, m *moment) error {
	posted, err := t.probe(ctx, m)
	if err != nil {
		return err
	}
	m.merged, m.posted, m.replaced = posted, posted, true
	m.taken = nil
	if finalizers := m.live.GetFinalizers(); len(finalizers) > 0 {
		m.treatment.Notes = append(slices.Clone(m.treatment.Notes), "it is gone, and made anew, only once its finalizers are removed ("+
			strings.Join(finalizers, ", ")+"): an applier that waits in vain leaves it deleted")
	}
	return nil
}

// probe creates the desired object under a name that nobody has, and gives the
// answer the object's own.
func (t *target) probe(ctx context.Context, m *moment) (*unstructured.Unstructured, error) {
	probe := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(t.content(m.treatment))}
	if m.treatment.Applier.Mode == plan.ModeClientSide {
		if err := util.CreateApplyAnnotation(probe, unstructured.UnstructuredJSONScheme); err != nil {
			return nil, withoutObjects(err)
		}
	}
	name := probeName(m.live)
	probe.SetName(name)
	probe.SetResourceVersion("")
	probe.SetUID("")
	freeService(probe, m.live)
	posted, err := t.create(ctx, probe.Object, m.treatment)
	if err != nil {
		return nil, errReplace{refusal: err, probe: name, name: t.object.Name()}
	}
	rename(posted.Object, name, t.object.Name())
	restoreService(posted, t.content(m.treatment))
	return posted, nil
}

// probeName is a name that nobody has, of an object that is as old as LIVE.
func probeName(live *unstructured.Unstructured) string {
	const longest = 40 // some kinds allow 63
	name, uid := live.GetName(), strings.ReplaceAll(string(live.GetUID()), "-", "")
	if len(name) > longest {
		name = strings.TrimRight(name[:longest], "-.")
	}
	return name + "-" + uid[:min(12, len(uid))]
}

// rename puts the real name where the server has put the probe's.
func rename(value any, from, to string) {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			if member == from {
				v[key] = to
			} else {
				rename(member, from, to)
			}
		}
	case []any:
		for _, entry := range v {
			rename(entry, from, to)
		}
	}
}

// freeService takes addresses and ports out of a Service's probe that LIVE
// still occupies, and will have given back.
func freeService(probe, live *unstructured.Unstructured) {
	spec, ours := serviceSpec(probe)
	held, _ := serviceSpec(live)
	if !ours {
		return
	}
	for _, field := range []string{"clusterIP", "healthCheckNodePort"} {
		if spec[field] != "None" && spec[field] == held[field] {
			delete(spec, field)
			if field == "clusterIP" {
				delete(spec, "clusterIPs")
			}
		}
	}
	taken := map[any]bool{}
	for _, port := range entriesOf(held, "ports") {
		taken[port["nodePort"]] = true
	}
	for _, port := range entriesOf(spec, "ports") {
		if taken[port["nodePort"]] {
			delete(port, "nodePort")
		}
	}
}

// restoreService puts back what freeService took.
func restoreService(posted *unstructured.Unstructured, desired map[string]any) {
	spec, ours := serviceSpec(posted)
	wanted, _ := serviceSpec(&unstructured.Unstructured{Object: desired})
	if !ours {
		return
	}
	for _, field := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort"} {
		if value, said := wanted[field]; said {
			spec[field] = value
		}
	}
	ports := entriesOf(spec, "ports")
	for i, port := range entriesOf(wanted, "ports") {
		if value, said := port["nodePort"]; said && i < len(ports) {
			ports[i]["nodePort"] = value
		}
	}
}

func serviceSpec(object *unstructured.Unstructured) (map[string]any, bool) {
	spec, ok := object.Object["spec"].(map[string]any)
	return spec, ok && object.GetAPIVersion() == "v1" && object.GetKind() == "Service"
}

// errReplace is why an applier that deletes an object could not create it
// again.
type errReplace struct {
	refusal     error
	probe, name string
}

func (e errReplace) Error() string { return "create it again: " + e.refusal.Error() }

func (e errReplace) Unwrap() error { return e.refusal }

// message tells the refusal, with the object's own name.
func (e errReplace) message(text string, causes []metav1.StatusCause) string {
	onlyName := len(causes) > 0
	for _, cause := range causes {
		onlyName = onlyName && cause.Field == manifest.Child("metadata", "name")
	}
	if onlyName {
		return "the applier would delete this object and create it again, which could not be checked: its kind allows no other name"
	}
	return "the applier would delete this object and fail to create it again: " + strings.ReplaceAll(text, e.probe, e.name)
}
