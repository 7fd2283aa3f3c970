package gate_test

import (
	"maps"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// part of a plan: what one object contributes.
type part func(*plan.Input)

func parts(list ...part) *plan.Plan {
	in := plan.Input{Cluster: plan.Cluster{Name: "test", UID: clusterUID}, Scope: "shop"}
	for _, p := range list {
		p(&in)
	}
	p, err := plan.Build(in)
	if err != nil {
		panic(err)
	}
	return p
}

// set is ConfigMap name going from one value to another; the same value twice
// is no change.
func set(name, from, to string) part {
	return func(in *plan.Input) {
		live, merged := configMap(name, from), configMap(name, to)
		for _, object := range []map[string]any{live, merged} {
			object["metadata"].(map[string]any)["uid"] = "u-" + name
		}
		in.Observations = append(in.Observations, plan.Observation{Object: object(configMap(name, to)), Live: live, Merged: merged, Applier: applier()})
	}
}

// made is a new Deployment, as ConfigMaps of one's own would be auto-approved.
func made(name, image string, added ...plan.AdmissionValue) part {
	return func(in *plan.Input) {
		in.Observations = append(in.Observations, plan.Observation{Object: object(deployment(name, image)), Merged: deployment(name, image),
			Applier: applier(), Admission: added})
	}
}

// unchecked is made where the server could not check it.
func unchecked(name, image string) part {
	return func(in *plan.Input) {
		made(name, image)(in)
		last(in).Unverified = "its namespace is created by this plan"
	}
}

// saying gives the manifest of the object before a member.
func saying(key string, value any) part {
	return func(in *plan.Input) { last(in).Object.Content[key] = value }
}

// hollow is a member of the object before that the server does not keep.
func hollow(key string) part {
	return func(in *plan.Input) {
		o := last(in)
		o.Effective = maps.Clone(o.Object.Content)
		delete(o.Effective, key)
	}
}

func last(in *plan.Input) *plan.Observation { return &in.Observations[len(in.Observations)-1] }

func there(name, image string) part {
	return func(in *plan.Input) {
		live := deployment(name, image)
		live["metadata"].(map[string]any)["uid"] = "u-" + name
		in.Observations = append(in.Observations, plan.Observation{Object: object(deployment(name, image)), Live: live, Merged: live, Applier: applier()})
	}
}

func hook(command string) part {
	return func(in *plan.Input) {
		in.Observations = append(in.Observations, plan.Observation{Applier: applier(), Object: object(map[string]any{"apiVersion": "batch/v1", "kind": "Job",
			"metadata": map[string]any{"name": "migrate", "namespace": "shop", "annotations": map[string]any{"argocd.argoproj.io/hook": "PreSync"}},
			"spec":     map[string]any{"command": command}})})
	}
}

// pruned is ConfigMap name, which is deleted, with this UID.
func pruned(name, uid string) part {
	return func(in *plan.Input) {
		live := configMap(name, "x")
		live["metadata"].(map[string]any)["uid"] = uid
		in.Removals = append(in.Removals, plan.Removal{Key: manifest.Key{Kind: "ConfigMap", Namespace: "shop", Name: name}, Version: "v1",
			Live: live, Applier: applier(), Deletion: plan.Deletion{Propagation: "Background"}})
	}
}

func skipped(name string) part {
	return func(in *plan.Input) {
		set(name, "a", "b")(in)
		last(in).Skip = "ssa: Ignore"
	}
}

func withPrune(in *plan.Input) { in.Prune = true }

func deployment(name, image string) map[string]any {
	return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name, "namespace": "shop"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "c", "image": image}}}}}}
}
