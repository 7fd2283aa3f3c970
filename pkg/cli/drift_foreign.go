package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/drift"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/render"
)

// foreign looks through the objects of all owners for what people's tools
// changed. What may not be read is listed.
func (d *drifting) foreign(ctx context.Context, out *render.Drifted) error {
	refs, err := gitops.List(ctx, d.reader())
	if err != nil {
		return err
	}
	for _, ref := range refs {
		git, err := d.known(ctx, ref)
		switch {
		case err != nil:
			return err
		case git.owner == nil:
			out.Unseen = append(out.Unseen, git.Unknown)
			continue
		}
		bodies := d.listed(git.owner.Inventory)
		looks, err := d.at(ctx, bodies)
		if err != nil {
			return err
		}
		for i, body := range bodies {
			if failure := looks[i].failure; failure != nil {
				out.Unseen = append(out.Unseen, fmt.Sprintf("%s of %s was not looked at: %s", body.Key(), ref, failure.Message))
				continue
			}
			for _, c := range drift.Foreign(body.Key(), body.Version, looks[i].Sight, &git.Applied) {
				out.Changes = append(out.Changes, render.DirectChange{Change: c})
			}
		}
	}
	return nil
}

// listed are the wanted objects of an inventory, in one order, each as the
// server prefers it.
func (d *drifting) listed(inventory map[manifest.Key]string) []plan.Body {
	var bodies []plan.Body
	for key := range inventory {
		if d.wanted(key.Namespace) {
			bodies = append(bodies, plan.Body{Group: key.Group, Version: d.kinds.Preferred(key.Group, key.Kind), Kind: key.Kind,
				Namespace: key.Namespace, Name: key.Name})
		}
	}
	slices.SortFunc(bodies, func(a, b plan.Body) int { return strings.Compare(a.Key().String(), b.Key().String()) })
	return bodies
}
