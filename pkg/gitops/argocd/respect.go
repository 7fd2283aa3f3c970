package argocd

import (
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/changeward/changeward/pkg/manifest"
)

// respect is what RespectIgnoreDifferences makes of an object: what is ignored
// of LIVE is put into it. The steps are Argo CD's, with their side effects:
// both objects lose what is ignored, what LIVE lost becomes a patch, the patch
// is put upon the object, and what that took along by replacing whole fields
// is put back.
func (p applier) respect(r rules, desired manifest.Object, live *unstructured.Unstructured, kind typed.ParseableType) (map[string]any, error) {
	original, err := remarshalled(desired.Content)
	if err != nil {
		return nil, err
	}
	normalLive, normalTarget, err := p.normalised(r, original, live, kind)
	if err != nil {
		return nil, err
	}
	whole, less := live.DeepCopy(), normalLive.DeepCopy()
	delete(whole.Object, "status") // its controller's alone
	delete(less.Object, "status")
	patched, err := overlay(normalTarget, less, whole)
	if err != nil {
		return nil, err
	}
	restore(patched.Object, original.Object, normalTarget.Object, normalLive.Object)
	return patched.Object, nil
}

// normalised are LIVE and the object as Argo CD compares them.
func (p applier) normalised(r rules, desired, live *unstructured.Unstructured, kind typed.ParseableType) (normalLive, target *unstructured.Unstructured, err error) {
	normalLive, target = live.DeepCopy(), desired.DeepCopy()
	p.s.forgiveTracking(target, normalLive)
	if len(r.managers) > 0 {
		if normalLive, target, err = withoutManaged(normalLive, target, r.managers, kind); err != nil {
			return nil, nil, err
		}
	}
	if err := r.normalise(normalLive); err != nil {
		return nil, nil, err
	}
	return normalLive, target, r.normalise(target)
}

// overlay puts on an object the patch that leads from less to whole.
func overlay(object, less, whole *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	texts := make([][]byte, 3)
	for i, o := range []*unstructured.Unstructured{object, less, whole} {
		text, err := o.MarshalJSON()
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	patched, err := overlayText(object, texts[0], texts[1], texts[2])
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, out.UnmarshalJSON(patched)
}

// overlayText merges kinds of Kubernetes by their types, all others as JSON.
func overlayText(kind *unstructured.Unstructured, object, less, whole []byte) ([]byte, error) {
	versioned, err := scheme.Scheme.New(kind.GroupVersionKind())
	if runtime.IsNotRegisteredError(err) {
		patch, err := jsonpatch.CreateMergePatch(less, whole)
		if err != nil {
			return nil, err
		}
		return jsonpatch.MergePatch(object, patch)
	} else if err != nil {
		return nil, err
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(versioned)
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(whole, whole, less, meta, true)
	if err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergePatch(object, patch, versioned)
}

// restore undoes what a patch did to fields that are not ignored, since some
// fields are only replaced as a whole. A field is not ignored where the
// normalised form of the object, or of LIVE, still has it.
func restore(patched, original, normalTarget, normalLive map[string]any) {
	for key, value := range original {
		got, there := patched[key]
		normal, kept := normalTarget[key]
		inner, isMap := got.(map[string]any)
		from, fromMap := value.(map[string]any)
		through, throughMap := normal.(map[string]any)
		if there && isMap && fromMap && throughMap {
			live, _ := normalLive[key].(map[string]any)
			restore(inner, from, through, live)
			continue
		}
		if kept && reflect.DeepEqual(normal, value) && (!there || !reflect.DeepEqual(got, value)) {
			patched[key] = value
		}
	}
	for key := range patched {
		_, ours := original[key]
		_, theirs := normalLive[key]
		if !ours && theirs {
			delete(patched, key)
		}
	}
}

// forgiveTracking takes out of LIVE what is left of tracking by label, where
// the install tracks by annotation.
func (s Settings) forgiveTracking(target, live *unstructured.Unstructured) {
	if s.Method == "label" || live.GetLabels()[s.Label] == "" || isCRD(manifest.Object{Content: live.Object}) {
		return
	}
	if annotations := live.GetAnnotations(); annotations[trackingID] == "" {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[trackingID] = target.GetAnnotations()[trackingID]
		live.SetAnnotations(annotations)
	}
	if target.GetLabels()[s.Label] == "" {
		labels := live.GetLabels()
		delete(labels, s.Label)
		if len(labels) == 0 {
			labels = nil
		}
		live.SetLabels(labels)
	}
}

func remarshalled(content map[string]any) (*unstructured.Unstructured, error) {
	text, err := (&unstructured.Unstructured{Object: content}).MarshalJSON()
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, out.UnmarshalJSON(text)
}
