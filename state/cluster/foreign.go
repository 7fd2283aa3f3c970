package cluster

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/state"
)

// Foreign is an object in the namespace that is no record, though it is a
// Secret or looks like a record.
type Foreign struct {
	Kind string // Secret or ConfigMap
	Name string
	Why  string
}

// Foreign lists what List leaves out: Secrets that are no record, ConfigMaps
// that carry a record's name or label without being one, and records that
// could be edited. It reads every object of the namespace.
func (s *Store) Foreign(ctx context.Context) ([]Foreign, error) {
	var found []Foreign
	visit := func(object metav1.Object) {
		if why := foreign(object); why != "" {
			kind := "ConfigMap"
			if _, secret := object.(*corev1.Secret); secret {
				kind = "Secret"
			}
			found = append(found, Foreign{Kind: kind, Name: object.GetName(), Why: why})
		}
	}
	for _, t := range []state.Type{state.TypePlan, state.TypeDecision} { // one of each kind
		if err := each(ctx, s.objects(t.Secret()), pageSize, "", visit); err != nil {
			return nil, s.failed(ctx, "list", t, "", err)
		}
	}
	if len(found) == 0 {
		return nil, s.failed(ctx, "list", state.TypePlan, "", s.missingNamespace(ctx, s.presence.missed()))
	}
	return found, nil
}

func foreign(object metav1.Object) string {
	label, labelled := object.GetLabels()[state.LabelType]
	if _, configMap := object.(*corev1.ConfigMap); configMap && !labelled && !strings.HasPrefix(object.GetName(), "cw-") {
		return "" // kube-root-ca.crt and others' own
	}
	if !labelled {
		return "carries no label " + state.LabelType
	}
	record, err := fromObject(state.Type(label), object)
	switch {
	case err != nil:
		return notARecord(state.Type(label), object)
	case !record.Immutable:
		return "is not immutable"
	}
	return ""
}
