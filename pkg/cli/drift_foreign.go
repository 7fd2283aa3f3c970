package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/drift"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/manifest"
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
		owner, err := gitops.Find(ctx, d.reader(), ref)
		if err != nil {
			out.Unseen = append(out.Unseen, err.Error())
			continue
		}
		git, err := d.known(ctx, ref)
		if err != nil {
			return err
		}
		for _, key := range sortedObjects(owner.Inventory) {
			if !d.wanted(key.Namespace) {
				continue
			}
			version := d.kinds.Preferred(key.Group, key.Kind)
			live, failure := d.session.Client.Look(ctx, d.kinds, d.masker, version, key)
			if failure != nil {
				if err := ctx.Err(); err != nil {
					return err
				}
				out.Unseen = append(out.Unseen, fmt.Sprintf("%s of %s was not looked at: %s", key, ref, failure.Message))
				continue
			}
			for _, c := range drift.Foreign(key, version, live, &git.Applied) {
				out.Changes = append(out.Changes, render.DirectChange{Change: c})
			}
		}
	}
	return nil
}

// sortedObjects are the keys of an inventory, in one order.
func sortedObjects(inventory map[manifest.Key]string) []manifest.Key {
	var keys []manifest.Key
	for key := range inventory {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b manifest.Key) int { return strings.Compare(a.String(), b.String()) })
	return keys
}
