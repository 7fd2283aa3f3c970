package gitops

import (
	"slices"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/manifest"
)

// Applies is the applier that applies as the owner would.
func (o *Owner) Applies() dryrun.Applier { return o.applies }

// Completed is a set with what the owner applies though no manifest shows it:
// the namespace that Argo CD makes.
func (o *Owner) Completed(set manifest.Set) manifest.Set {
	if o.Argo == nil {
		return set
	}
	if namespace, is := o.Argo.Beside(set); is {
		set.Objects = append(slices.Clone(set.Objects), namespace)
	}
	return set
}
