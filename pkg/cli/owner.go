package cli

import (
	"context"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/plan"
)

// owner finds whom the plan is made for, nil for nobody.
func (s *Session) owner(ctx context.Context, p *planning) (*gitops.Owner, error) {
	ref, err := p.input.ownerRef()
	if err != nil || ref == (gitops.Ref{}) {
		return nil, err
	}
	return gitops.Find(ctx, dryrun.Reader{Client: s.Client, Kinds: p.kinds}, ref)
}

// applier of the manifests.
func (s *Session) applier(ctx context.Context, p *planning) (err error) {
	switch {
	case p.owner != nil:
		p.applier = p.owner.Applies()
		return nil
	case p.input.direct:
		p.applier = dryrun.Changeward(p.input.applier.forceConflicts)
		return nil
	}
	var tools *gitops.Tools
	if flags := p.input.applier; flags.needsTools() {
		if tools, err = gitops.FindTools(ctx, dryrun.Reader{Client: s.Client, Kinds: p.kinds}); err != nil {
			return err
		}
	}
	p.applier = p.input.applier.applier(tools)
	return nil
}

// observeOwners adds what the owner would delete, and who owns what was
// observed.
func (s *Session) observeOwners(ctx context.Context, p *planning, in *plan.Input) error {
	if o := p.owner; o != nil {
		in.Owner, in.Prune, in.Warnings = o.Ref.String(), o.Prune, o.Notes
		var err error
		in.Removals, err = s.Client.ObserveDeletes(ctx, p.departed, dryrun.DeleteOptions{Kinds: p.kinds, Masker: p.masker,
			Applier: o.Applier, Propagation: o.Propagation, Judge: o.Judge(in.Observations)})
		if err != nil {
			return err
		}
	}
	if p.deletes != nil {
		var err error
		if in.Removals, err = s.Client.ObserveDeletes(ctx, p.departed, *p.deletes); err != nil {
			return err
		}
	}
	return gitops.Attribute(ctx, dryrun.Reader{Client: s.Client, Kinds: p.kinds}, in.Observations, in.Removals)
}
