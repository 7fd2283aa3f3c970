package gitops

import (
	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/gitops/flux"
)

func (o *Owner) tool() string {
	if o.Argo != nil {
		return "Argo CD"
	}
	return "Flux"
}

// keepMark is the annotation by which the owner leaves an object there.
func (o *Owner) keepMark() string {
	if o.Argo != nil {
		return "argocd.argoproj.io/sync-options: Prune=false"
	}
	return flux.Group + "/prune: disabled"
}

func (o *Owner) keep(live map[string]any) string {
	if o.Argo != nil {
		return o.Argo.Keep(live, o.Settings)
	}
	return o.Flux.Keep(live)
}

func (o *Owner) guards(live map[string]any) map[string]string {
	guards := flux.Guards(live)
	if o.Argo != nil {
		guards = argocd.Guards(live)
	}
	if len(guards) == 0 {
		return nil
	}
	return guards
}
