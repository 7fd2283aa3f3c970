package argocd

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/changeward/changeward/pkg/manifest"
)

// inSync says that Argo CD's comparison, of what was applied last, the object
// and LIVE, surely finds no difference. It does not know defaults, so that
// false may still be no difference.
func (p applier) inSync(r rules, desired manifest.Object, live *unstructured.Unstructured, kind typed.ParseableType) (bool, error) {
	target, err := remarshalled(desired.Content)
	if err != nil {
		return false, err
	}
	present, target, err := p.normalised(rules{managers: r.managers}, target, live, kind)
	if err != nil {
		return false, err
	}
	var last *unstructured.Unstructured
	if text := live.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; text != "" {
		last = &unstructured.Unstructured{}
		if err := last.UnmarshalJSON([]byte(text)); err != nil {
			last = nil
		}
	}
	present, target = typedForm(present), typedForm(target)
	for _, object := range []*unstructured.Unstructured{present, target, last} {
		if object != nil {
			if err := p.comparable(r, object); err != nil {
				return false, err
			}
		}
	}
	if last == nil {
		last = target.DeepCopy()
	}
	return unmoved(withoutNamespace(last), withoutNamespace(target), present)
}

// unmoved applies the patch of a three-way merge to LIVE, and says that
// nothing comes of it. A patch that cannot be computed moves something.
func unmoved(last, target, live *unstructured.Unstructured) (bool, error) {
	texts := make([][]byte, 3)
	for i, o := range []*unstructured.Unstructured{last, target, live} {
		text, err := json.Marshal(o.Object)
		if err != nil {
			return false, err
		}
		texts[i] = text
	}
	versioned, err := scheme.Scheme.New(last.GroupVersionKind())
	if err != nil {
		less, err := json.Marshal(common(last.Object, live.Object))
		if err != nil {
			return false, err
		}
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(texts[0], texts[1], less)
		if err != nil {
			return false, nil
		}
		after, err := jsonpatch.MergePatch(texts[2], patch)
		return err == nil && sameJSON(after, texts[2]), nil
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(versioned)
	if err != nil {
		return false, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(texts[0], texts[1], texts[2], meta, true)
	if err != nil {
		return false, nil
	}
	after, err := strategicpatch.StrategicMergePatch(texts[2], patch, versioned)
	return err == nil && sameJSON(after, texts[2]), nil
}

func sameJSON(a, b []byte) bool {
	var left, right any
	return json.Unmarshal(a, &left) == nil && json.Unmarshal(b, &right) == nil && reflect.DeepEqual(left, right)
}

// comparable brings an object, in place, into the form in which Argo CD
// compares it.
func (p applier) comparable(r rules, object *unstructured.Unstructured) error {
	o := manifest.Object{Content: object.Object}
	unstructured.RemoveNestedField(object.Object, "metadata", "creationTimestamp")
	switch {
	case manifest.IsSecret(object.Object):
		plainData(object.Object)
	case o.Group() == "rbac.authorization.k8s.io" && (o.Kind() == "Role" || o.Kind() == "ClusterRole"):
		_, aggregates := object.Object["aggregationRule"].(map[string]any)
		list, isList := object.Object["rules"].([]any)
		if aggregates && p.s.aggregated || isList && len(list) == 0 {
			object.Object["rules"] = nil
		}
	}
	return r.normalise(object)
}

// plainData moves clear values of a Secret to where the server keeps them.
func plainData(secret map[string]any) {
	data, _ := secret["data"].(map[string]any)
	if clear, has := secret["stringData"].(map[string]any); has {
		if data == nil {
			data = map[string]any{}
		}
		for key, value := range clear {
			if text, ok := value.(string); ok {
				value = base64.StdEncoding.EncodeToString([]byte(text))
			}
			data[key] = value
		}
		secret["data"] = data
		delete(secret, "stringData")
	}
	for key, value := range data {
		if value == nil {
			data[key] = ""
		}
	}
}

// typedForm is an object as its Go type spells it, where it fits that.
func typedForm(object *unstructured.Unstructured) *unstructured.Unstructured {
	empty, err := scheme.Scheme.New(object.GroupVersionKind())
	if err != nil {
		return object
	}
	text, err := object.MarshalJSON()
	if err != nil {
		return object
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if decoder.Decode(empty) != nil {
		return object
	}
	spelled, err := runtime.DefaultUnstructuredConverter.ToUnstructured(empty)
	if err != nil {
		return object
	}
	return &unstructured.Unstructured{Object: common(object.Object, spelled)}
}

// common is the part of a map whose keys another has, too.
func common(keys, from map[string]any) map[string]any {
	out := map[string]any{}
	for key, wanted := range keys {
		if value, there := from[key]; there {
			out[key] = commonOf(wanted, value)
		}
	}
	return out
}

func commonOf(keys, from any) any {
	switch keys := keys.(type) {
	case map[string]any:
		if from, ok := from.(map[string]any); ok {
			return common(keys, from)
		}
	case []any:
		if from, ok := from.([]any); ok {
			out := make([]any, len(from))
			for i := range from {
				out[i] = from[i]
				if i < len(keys) && from[i] != nil {
					out[i] = commonOf(keys[i], from[i])
				}
			}
			return out
		}
	}
	return from
}

// withoutNamespace is a copy without what Argo CD does not compare.
func withoutNamespace(object *unstructured.Unstructured) *unstructured.Unstructured {
	out := object.DeepCopy()
	metadata, ok := out.Object["metadata"].(map[string]any)
	if !ok {
		return out
	}
	delete(metadata, "namespace")
	if annotations, isMap := metadata["annotations"].(map[string]any); metadata["annotations"] == nil || isMap && len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	return out
}

// same says that what a dry run of server-side apply makes of LIVE is LIVE, as
// Argo CD compares the two. Its own dry run sends a Secret's clear values as
// data, and owns them thereby, which that of the real write does not.
func (p applier) same(r rules, live, merged *unstructured.Unstructured, kind typed.ParseableType, clear bool) bool {
	if !clear && !slices.Contains(p.a.CompareOptions, "IncludeMutationWebhook=true") {
		var err error
		if merged, err = predicted(live, merged, kind); err != nil {
			return false
		}
	}
	var out []map[string]any
	for _, object := range []*unstructured.Unstructured{live, merged} {
		bare := typedForm(object.DeepCopy())
		if err := p.comparable(r, bare); err != nil {
			return false
		}
		for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
			unstructured.RemoveNestedField(bare.Object, "metadata", field)
		}
		unstructured.RemoveNestedField(bare.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
		out = append(out, bare.Object)
	}
	return reflect.DeepEqual(out[0], out[1])
}
