package gitops

import (
	"time"

	"github.com/changeward/changeward/pkg/gitops/argocd"
)

// Reconciled is the revision that the owner applied last, and when it last found
// the cluster to be so, or made it so; a zero time: it does not say.
func (o *Owner) Reconciled() (revision string, at time.Time) {
	if o.Argo != nil {
		return argocd.Applied(o.Object)
	}
	return o.Flux.LastAppliedRevision, o.Flux.Reconciled
}
