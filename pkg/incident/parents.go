package incident

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/manifest"
)

// Undoing are the owners that would resume these at their next reconciliation:
// those that list one in their inventory, and set its spec.suspend themselves.
// They come outermost first. Notes tell of parents that leave it alone.
func Undoing(ctx context.Context, reader Reader, owners []Owner) (parents []Owner, notes []string, err error) {
	seen := map[manifest.Key]bool{}
	for _, o := range owners {
		seen[o.Key] = true
	}
	for queue := slices.Clone(owners); len(queue) > 0; queue = queue[1:] {
		child := queue[0]
		for _, claim := range flux.Claims(manifest.Object{Content: child.Object.Object}) {
			key := manifest.Key{Group: claim.Group, Kind: claim.Kind, Namespace: claim.Namespace, Name: claim.Name}
			parent, found := reader.Read(ctx, key)
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			sets := setsSuspend(child, key)
			switch {
			case found != nil && sets:
				return nil, nil, &Error{Key: key, Reason: found.Reason, Message: "it sets spec.suspend of " + name(child.Key) + ", and cannot be read: " + found.Message}
			case found != nil || seen[key] || !lists(parent, child.Key):
			case sets:
				seen[key] = true
				owner := ReadOwner(key, parent)
				parents, queue = append(parents, owner), append(queue, owner)
				notes = append(notes, fmt.Sprintf("%s sets spec.suspend of %s, and would resume it: it is suspended, too", name(key), name(child.Key)))
			default:
				notes = append(notes, fmt.Sprintf("%s applies %s and does not set its spec.suspend, so that it goes on", name(key), name(child.Key)))
			}
		}
	}
	slices.Reverse(parents)
	return parents, notes, nil
}

func lists(parent map[string]any, child manifest.Key) bool {
	inventory, err := flux.ReadInventory(parent)
	_, there := inventory[child]
	return err == nil && there
}

// setsSuspend says whether the controller of a parent holds spec.suspend.
func setsSuspend(child Owner, parent manifest.Key) bool {
	manager := flux.Manager
	if parent.Group == flux.HelmGroup {
		manager = "helm-controller"
	}
	for _, entry := range child.Object.GetManagedFields() {
		var fields struct {
			Spec map[string]any `json:"f:spec"`
		}
		if entry.Manager != manager || entry.Subresource != "" || entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		if _, sets := fields.Spec["f:suspend"]; sets {
			return true
		}
	}
	return false
}
