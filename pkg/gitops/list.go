package gitops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/manifest"
)

// List names the owners in a cluster that plans can be made for. A kind that the
// cluster does not know has none.
func List(ctx context.Context, reader Reader) ([]Ref, error) {
	var refs []Ref
	for kind, key := range map[string]manifest.Key{Kustomization: {Group: flux.Group, Kind: "Kustomization"}, Application: {Group: argocd.Group, Kind: "Application"}} {
		if !reader.Serves(key.Group, key.Kind) {
			continue
		}
		found, failure := reader.Named(ctx, key)
		if failure != nil {
			return nil, fmt.Errorf("list %ss: %s", key.Kind, unread(failure))
		}
		for _, object := range found {
			o := manifest.Object{Content: object}
			refs = append(refs, Ref{Kind: kind, Namespace: o.Namespace(), Name: o.Name()})
		}
	}
	slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.String(), b.String()) })
	return refs, nil
}
