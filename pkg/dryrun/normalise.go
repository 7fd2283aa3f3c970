package dryrun

import (
	"encoding/base64"
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/changeward/changeward/pkg/manifest"
)

// normalised is the manifest in the form in which the server stores its
// values: quantities, times and bytes of built-in kinds have one spelling, and
// stringData is data. Kinds that this program does not know stay as they are;
// so do custom resources at the server.
func normalised(object manifest.Object) map[string]any {
	content := withoutStringData(object)
	respelled, known := typedForm(manifest.Object{Content: content})
	if !known {
		return content
	}
	respelled["apiVersion"], respelled["kind"] = content["apiVersion"], content["kind"]
	out, _ := respell(content, respelled).(map[string]any)
	return out
}

// typedForm is an object of a built-in kind read into the kind's own type, and
// written again. It answers false for other kinds, and for what does not fit.
func typedForm(object manifest.Object) (map[string]any, bool) {
	typed, err := scheme.Scheme.New(gvkOf(object))
	if err != nil {
		return nil, false
	}
	converter := runtime.DefaultUnstructuredConverter
	if err := converter.FromUnstructured(object.Content, typed); err != nil {
		return nil, false
	}
	out, err := converter.ToUnstructured(typed)
	return out, err == nil
}

// respell takes the manifest's members with the spelling of the typed form.
// What the typed form lacks is dropped when it is empty, as the server does,
// and kept when it is a field that this program is too old to know.
func respell(own, respelled any) any {
	switch own := own.(type) {
	case map[string]any:
		other, isMap := respelled.(map[string]any)
		if !isMap {
			return own
		}
		out := make(map[string]any, len(own))
		for key, value := range own {
			spelled, has := other[key]
			switch {
			case has && spelled != nil:
				out[key] = respell(value, spelled)
			case !isEmpty(value):
				out[key] = value
			}
		}
		return out
	case []any:
		other, isList := respelled.([]any)
		if !isList || len(other) != len(own) {
			return own
		}
		out := make([]any, len(own))
		for i := range own {
			out[i] = respell(own[i], other[i])
		}
		return out
	}
	if respelled == nil {
		return own
	}
	return respelled
}

// isEmpty says that a value is hollow, or a scalar that says nothing.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	}
	return isHollow(value)
}

// withoutStringData moves the clear values of a Secret to where the server
// keeps them.
func withoutStringData(object manifest.Object) map[string]any {
	clear, has := object.Content["stringData"].(map[string]any)
	if !has || object.Group() != "" || object.Kind() != "Secret" {
		return object.Content
	}
	out := without(object.Content, "stringData")
	own, _ := out["data"].(map[string]any)
	data := make(map[string]any, len(own)+len(clear))
	maps.Copy(data, own)
	for key, value := range clear {
		if text, ok := value.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	out["data"] = data
	return out
}
