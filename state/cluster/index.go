package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/pager"

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
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		list, err := s.names.Resource(resource).Namespace(Namespace).List(ctx, options)
		if err == nil && list.ResourceVersion == "" {
			err = errNoList
		}
		return list, err
	})
	pages.PageSize = indexPage
	var records []state.Record
	err := pages.EachListItem(ctx, metav1.ListOptions{LabelSelector: selected(t, selector)}, func(item runtime.Object) error {
		object, ok := item.(*metav1.PartialObjectMetadata)
		if !ok {
			return fmt.Errorf("unexpected %T in a list of names", item)
		}
		records = append(records, state.Record{Type: t, Name: object.Name, Created: object.CreationTimestamp.UTC(),
			Plan: object.Labels[state.LabelPlan], Scope: object.Labels[state.LabelScope], Claims: claims(object.Annotations)})
		return nil
	})
	if err == nil && len(records) == 0 {
		err = s.missingNamespace(ctx)
	}
	if err != nil {
		return nil, s.failed(ctx, "list", t, "", err)
	}
	slices.SortFunc(records, func(a, b state.Record) int { return strings.Compare(a.Name, b.Name) })
	return records, nil
}
