package gitops

import "github.com/changeward/changeward/pkg/dryrun"

// Applies is the applier that applies as the owner would.
func (o *Owner) Applies() dryrun.Applier { return o.applies }
