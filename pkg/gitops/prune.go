package gitops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// EmptyError is why an empty set of manifests is not taken at its word.
type EmptyError struct {
	Ref    Ref
	Pruned int // objects that the owner lists
}

// Error says how much an empty set would delete.
func (e *EmptyError) Error() string {
	return fmt.Sprintf("no objects in input, %d would be pruned by %s", e.Pruned, e.Ref)
}

// Departed lists what the owner lists and the set does not hold, in a fixed
// order. Problems are what was wrong with single inputs: an object that is
// named in one did not leave; where the name is not known, nothing is said to
// have left, since the plan is incomplete anyway. An empty set is an
// *EmptyError unless empty says that it is meant so. A namespace that the owner
// lists with an object of a cluster-wide kind, as some manifests have it, means
// nothing.
func (o *Owner) Departed(set manifest.Set, kinds manifest.Kinds, problems []manifest.Problem, empty bool) ([]dryrun.Departed, error) {
	wanted := map[manifest.Key]bool{}
	for _, object := range set.Objects {
		if _, _, isHook := manifest.Hook(object); o.Argo == nil || !isHook {
			wanted[object.Key()] = true
		}
	}
	var out []dryrun.Departed
	for key, version := range o.Inventory {
		if namespaced, known := kinds.Scope(key.Group, version, key.Kind); known && !namespaced {
			key.Namespace = ""
		}
		if !wanted[key] && !named(problems, key) {
			out = append(out, dryrun.Departed{Key: key, Version: version, Source: manifest.Source{File: o.Ref.String()}})
		}
	}
	unknown := slices.ContainsFunc(problems, func(p manifest.Problem) bool { return p.Key.Kind == "" || p.Key.Name == "" })
	switch {
	case unknown:
		return nil, nil
	case len(wanted) == 0 && len(problems) == 0 && len(out) > 0 && o.Prune && !empty:
		return nil, &EmptyError{Ref: o.Ref, Pruned: len(out)}
	}
	slices.SortFunc(out, func(a, b dryrun.Departed) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	return out, nil
}

// named says whether a problem is about an object, whose namespace may not
// have been known yet.
func named(problems []manifest.Problem, key manifest.Key) bool {
	return slices.ContainsFunc(problems, func(p manifest.Problem) bool {
		return p.Key.Group == key.Group && p.Key.Kind == key.Kind && p.Key.Name == key.Name && cmp.Or(p.Key.Namespace, key.Namespace) == key.Namespace
	})
}

// Judge decides over what left the manifests. Observations are those of the
// manifests: an object that is one of them under another name is not gone.
func (o *Owner) Judge(observations []plan.Observation) func(live map[string]any) dryrun.Fate {
	planned := map[string]manifest.Key{}
	for _, seen := range observations {
		if uid := uidOf(seen.Live); uid != "" {
			planned[uid] = seen.Object.Key()
		}
	}
	return func(live map[string]any) dryrun.Fate {
		fate := dryrun.Fate{Keep: o.keep(live), Guards: o.guards(live)}
		if same, there := planned[uidOf(live)]; there {
			why := "it is the same object as " + same.String() + " of the manifests, which the server shows under two groups"
			if o.Argo != nil {
				fate.Keep = cmp.Or(fate.Keep, "Argo CD does not delete it: "+why)
			}
			fate.Refuse = why + ": Flux would delete it"
			return fate
		}
		if policy := (manifest.Object{Content: live}).Annotations()["helm.sh/resource-policy"]; strings.EqualFold(strings.TrimSpace(policy), "keep") {
			fate.Notes = append(fate.Notes, fmt.Sprintf("the live object has helm.sh/resource-policy: %s, which only Helm honours: %s deletes it; "+
				"to keep it, annotate the live object %s", policy, o.tool(), o.keepMark()))
		}
		return fate
	}
}

func uidOf(live map[string]any) string {
	metadata, _ := live["metadata"].(map[string]any)
	uid, _ := metadata["uid"].(string)
	return uid
}
