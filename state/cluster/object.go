package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/state"
)

// secretTypePrefix and the record type are the type of a record Secret.
const secretTypePrefix = "changeward.dev/"

// writable refuses what would be stored as something else than was given.
func writable(record state.Record) error {
	if why := misnamed(record.Type, record.Name); why != "" {
		return fmt.Errorf("create %s %q: %s", record.Type, record.Name, why)
	}
	for _, group := range record.Claims.Groups {
		if group == "" || strings.Contains(group, "\n") {
			return fmt.Errorf("create %s %s: group name %q cannot be recorded", record.Type, record.Name, group)
		}
	}
	for key, value := range record.Data {
		if !record.Type.Secret() && !utf8.Valid(value) {
			return fmt.Errorf("create %s %s: %s is not text", record.Type, record.Name, key)
		}
	}
	return nil
}

// misnamed says why a name is none for a record of type t, or "".
func misnamed(t state.Type, name string) string {
	if !slices.Contains(state.Types(), t) {
		return fmt.Sprintf("unknown record type %q", t)
	}
	if prefix := "cw-" + string(t) + "-"; !strings.HasPrefix(name, prefix) {
		return "name does not start with " + prefix
	}
	return ""
}

func toSecret(record state.Record) *corev1.Secret {
	immutable := true
	return &corev1.Secret{ObjectMeta: toMeta(record), Immutable: &immutable, Data: record.Data,
		Type: corev1.SecretType(secretTypePrefix + string(record.Type))}
}

func toConfigMap(record state.Record) *corev1.ConfigMap {
	immutable := true
	data := make(map[string]string, len(record.Data))
	for key, value := range record.Data {
		data[key] = string(value)
	}
	return &corev1.ConfigMap{ObjectMeta: toMeta(record), Immutable: &immutable, Data: data}
}

func toMeta(record state.Record) metav1.ObjectMeta {
	filled := func(all map[string]string) map[string]string {
		maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
		return all
	}
	return metav1.ObjectMeta{Namespace: Namespace, Name: record.Name,
		Labels: filled(map[string]string{
			state.LabelType:  string(record.Type),
			state.LabelPlan:  record.Plan,
			state.LabelScope: record.Scope,
		}),
		Annotations: filled(map[string]string{
			state.AnnotationActor:      record.Claims.Actor,
			state.AnnotationGroups:     strings.Join(record.Claims.Groups, "\n"),
			state.AnnotationCredential: record.Claims.Credential,
			state.AnnotationPlanHash:   record.Claims.PlanHash,
		})}
}

// fromObject reads a Secret or ConfigMap as a record of type t; an error says
// why it is none.
func fromObject(t state.Type, object metav1.Object) (state.Record, error) {
	if why := notARecord(t, object); why != "" {
		return state.Record{}, fmt.Errorf("%s is no %s record: %s", object.GetName(), t, why)
	}
	record := state.Record{Type: t, Name: object.GetName(), UID: string(object.GetUID()),
		Created: object.GetCreationTimestamp().UTC(), Plan: object.GetLabels()[state.LabelPlan],
		Scope: object.GetLabels()[state.LabelScope], Claims: claims(object.GetAnnotations())}
	switch o := object.(type) {
	case *corev1.Secret:
		record.Data, record.Immutable = o.Data, o.Immutable != nil && *o.Immutable
	case *corev1.ConfigMap:
		record.Data, record.Immutable = map[string][]byte{}, o.Immutable != nil && *o.Immutable
		for key, value := range o.Data {
			record.Data[key] = []byte(value)
		}
	}
	return record, nil
}

func claims(annotations map[string]string) state.Claims {
	c := state.Claims{Actor: annotations[state.AnnotationActor], Credential: annotations[state.AnnotationCredential],
		PlanHash: annotations[state.AnnotationPlanHash]}
	if groups := annotations[state.AnnotationGroups]; groups != "" {
		c.Groups = strings.Split(groups, "\n")
	}
	return c
}

// notARecord says why an object is no record of type t, or "".
func notARecord(t state.Type, object metav1.Object) string {
	if why := misnamed(t, object.GetName()); why != "" {
		return why
	}
	if got := object.GetLabels()[state.LabelType]; got != string(t) {
		return fmt.Sprintf("label %s is %q", state.LabelType, got)
	}
	switch o := object.(type) {
	case *corev1.Secret:
		if want := secretTypePrefix + string(t); string(o.Type) != want {
			return fmt.Sprintf("type of the Secret is %q", o.Type)
		}
		if !t.Secret() {
			return "is a Secret"
		}
	case *corev1.ConfigMap:
		if t.Secret() {
			return "is a ConfigMap"
		}
		if len(o.BinaryData) > 0 {
			return "carries binary data"
		}
	}
	return ""
}
