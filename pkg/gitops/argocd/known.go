package argocd

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// rollout is the one kind that has a known type unless settings say otherwise.
const rollout = "argoproj.io/Rollout"

// empty is a value of a known type.
func (k knownType) empty() (any, error) {
	switch k.Type {
	case "core/Quantity":
		return &resource.Quantity{}, nil
	case "meta/v1/Duration":
		return &metav1.Duration{}, nil
	case "core/v1/PodSpec":
		return &corev1.PodSpec{}, nil
	case "core/v1/PodTemplateSpec":
		return &corev1.PodTemplateSpec{}, nil
	case "core/v1/Container":
		return &corev1.Container{}, nil
	case "core/v1/ResourceRequirements":
		return &corev1.ResourceRequirements{}, nil
	}
	return nil, fmt.Errorf("argocd-cm spells its %s as a %s, which cannot be told here", k.Field, k.Type)
}

// respell writes the field as the type spells it, in place, in every entry of
// a list on the way.
func (k knownType) respell(object map[string]any) error {
	return k.at(object, strings.Split(k.Field, "."))
}

func (k knownType) at(object map[string]any, path []string) error {
	for i := range path {
		list, ok, err := unstructured.NestedFieldNoCopy(object, path[:i+1]...)
		entries, isList := list.([]any)
		if err != nil || !ok || !isList {
			continue
		}
		for j, entry := range entries {
			member, isMap := entry.(map[string]any)
			switch {
			case !isMap:
			case i+1 < len(path):
				err = k.at(member, path[i+1:])
			default:
				entries[j], err = k.respelled(member)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	value, ok, err := unstructured.NestedFieldNoCopy(object, path...)
	if err != nil || !ok {
		return nil
	}
	spelled, err := k.respelled(value)
	if err != nil {
		return err
	}
	return unstructured.SetNestedField(object, spelled, path...)
}

func (k knownType) respelled(value any) (any, error) {
	into, err := k.empty()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err == nil {
		text, err = json.Marshal(into)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no %s: %w", k.Field, k.Type, err)
	}
	wrapped := &unstructured.Unstructured{}
	if err := wrapped.UnmarshalJSON([]byte(`{"kind":"x","value":` + string(text) + `}`)); err != nil {
		return nil, err
	}
	return wrapped.Object["value"], nil
}
