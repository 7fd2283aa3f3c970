package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/state"
)

// indexPage is how many names one request of an Index asks for.
const indexPage = 5000

// Index implements state.Store: it asks for metadata alone, a tenth of the
// bytes of the records.
func (s *Store) Index(ctx context.Context, t state.Type, selector state.Selector) ([]state.Record, error) {
	resource := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	if t.Secret() {
		resource.Resource = "secrets"
	}
	list := func(ctx context.Context, options metav1.ListOptions) (page, error) {
		return s.names.Resource(resource).Namespace(Namespace).List(ctx, options)
	}
	var records []state.Record
	missed := s.presence.missed()
	err := each(ctx, list, indexPage, selected(t, selector), func(object metav1.Object) {
		records = append(records, state.Record{Type: t, Name: object.GetName(), Created: object.GetCreationTimestamp().UTC(),
			Plan: object.GetLabels()[state.LabelPlan], Scope: object.GetLabels()[state.LabelScope], Claims: claims(object.GetAnnotations())})
	})
	return s.listed(ctx, t, records, missed, err)
}
