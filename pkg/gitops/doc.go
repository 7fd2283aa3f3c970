// Package gitops says who owns an object, what an owner would apply and with
// which settings, and what it would delete. It reads owners through a Reader,
// and writes nothing.
//
// Enter at ParseRef and Find for the owner that a plan is made for. Completed
// adds what it applies though no manifest shows it. Departed
// lists what left the manifests, Judge decides over each of it while
// dryrun.ObserveDeletes looks. Attribute then says of everything that was
// observed who else keeps it as it is. The rules of each tool are in
// gitops/flux and gitops/argocd, which read nothing.
package gitops

import (
	"context"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Reader reads owners. A failure has one of the reasons of package plan:
// NotFound, UnknownKind, Forbidden, or another where there was no answer.
type Reader interface {
	// Serves says whether the cluster knows a kind at all.
	Serves(group, kind string) bool
	// Read reads one object.
	Read(ctx context.Context, key manifest.Key) (map[string]any, *plan.Failure)
	// Named finds the objects of a kind and name in all namespaces.
	Named(ctx context.Context, key manifest.Key) ([]map[string]any, *plan.Failure)
}
