package gitops

import (
	"context"
	"fmt"

	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// shardKey is the label by which a Kustomization chooses one of several
// controllers, whose Deployment has the value at the end of its name.
const shardKey = "sharding.fluxcd.io/key"

// findController reads the flags of the kustomize-controller that applies a
// Kustomization of a shard, "" for the usual one. why says that they are not
// known, and are taken for none. An error is an answer that did not come.
func findController(ctx context.Context, reader Reader, shard string) (c flux.Controller, why string, err error) {
	key := manifest.Key{Group: "apps", Kind: "Deployment", Namespace: flux.ControllerHome, Name: flux.ControllerName}
	if shard != "" {
		key.Name += "-" + shard
	}
	found, failure := reader.Read(ctx, key)
	if failure != nil && failure.Reason == plan.ReasonNotFound {
		key.Namespace = ""
		found, failure = alone(reader.Named(ctx, key))
	}
	name := "Deployment " + key.Name
	switch {
	case failure == nil:
		if c, err = flux.ReadController(found); err != nil {
			return c, unflagged(name + " cannot be understood: " + err.Error()), nil
		}
		return c, "", nil
	case failure.Reason == plan.ReasonNotFound:
		return c, unflagged(name + ": " + failure.Message), nil
	case failure.Reason == plan.ReasonForbidden:
		return c, unflagged(name + " may not be read: " + failure.Message), nil
	}
	return c, "", fmt.Errorf("the flags of kustomize-controller are in %s, which cannot be read: %s", name, failure.Message)
}

// alone is the one object of a search.
func alone(found []map[string]any, failure *plan.Failure) (map[string]any, *plan.Failure) {
	switch {
	case failure != nil:
		return nil, failure
	case len(found) != 1:
		return nil, &plan.Failure{Reason: plan.ReasonNotFound, Message: fmt.Sprintf("there are %d Deployments of its name", len(found))}
	}
	return found[0], nil
}

func unflagged(why string) string {
	return "planned as by a kustomize-controller without flags (--override-manager and others): " + why
}
