package dryrun

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// markAssigned stands for a value that the server makes up for each object.
const markAssigned = "assigned"

// valueOf is what admission added, or the mark of a value that the server
// makes up: another one for each object, and for each dry run.
func valueOf(gvk schema.GroupVersionKind, added diff.Transition) plan.AdmissionValue {
	if added.Action == diff.Add && serverAssigns(gvk.GroupKind(), added.Path) {
		return plan.AdmissionValue{Path: added.Path, Mark: markAssigned}
	}
	return plan.AdmissionValue{Path: added.Path, Value: added.New}
}

// assignments are the fields of an update that the server makes up since
// neither the manifest nor LIVE has them: a Service that gets its first
// address, or another port. A dry run puts something else in their place.
func assignments(t *target, m moment, s *diff.Schema) (out []plan.AdmissionValue) {
	if t.gvk.GroupKind() != (schema.GroupKind{Kind: "Service"}) {
		return nil
	}
	live, _ := serviceSpec(m.live)
	taken := map[any]bool{}
	for _, port := range entriesOf(live, "ports") {
		taken[port["nodePort"]] = true
	}
	for _, transition := range diff.Objects(m.live.Object, m.merged.Object, t.object.Content, s) {
		for _, leaf := range leavesOf(transition) {
			_, said := diff.At(t.object.Content, leaf)
			value, _ := diff.At(m.merged.Object, leaf)
			port, isPort := value.(int64)
			if transition.Action != diff.Remove && !said && !(isPort && taken[port]) && serverAssigns(t.gvk.GroupKind(), leaf) {
				out = append(out, plan.AdmissionValue{Path: leaf, Mark: markAssigned})
			}
		}
	}
	return out
}

// leavesOf are the paths of a transition: its own, and those right below.
func leavesOf(transition diff.Transition) []string {
	members, _ := transition.New.(map[string]any)
	paths := []string{transition.Path}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		paths = append(paths, manifest.Child(transition.Path, key))
	}
	return paths
}

// serverAssigns knows the fields that the server makes up where a manifest is
// silent.
func serverAssigns(kind schema.GroupKind, path string) bool {
	switch kind {
	case schema.GroupKind{Kind: "Service"}:
		return slices.Contains([]string{"spec.clusterIP", "spec.clusterIPs", "spec.healthCheckNodePort",
			"spec.ipFamilies", "spec.ipFamilyPolicy"}, path) ||
			strings.HasPrefix(path, "spec.ports[") && strings.HasSuffix(path, "].nodePort")
	case schema.GroupKind{Group: "batch", Kind: "Job"}:
		return slices.ContainsFunc([]string{"metadata.labels", "spec.selector.matchLabels", "spec.template.metadata.labels"},
			func(labels string) bool { return slices.Contains(jobLabels(labels), path) })
	case schema.GroupKind{Kind: "Pod"}:
		return path == tokenVolumePath || strings.HasSuffix(path, tokenMountSuffix)
	}
	return false
}

// jobLabels are the labels by which a Job finds its Pods.
func jobLabels(labels string) []string {
	return []string{
		manifest.Child(labels, "batch.kubernetes.io/controller-uid"),
		manifest.Child(labels, "batch.kubernetes.io/job-name"),
		manifest.Child(labels, "controller-uid"),
		manifest.Child(labels, "job-name"),
	}
}

// The volume in which each Pod finds its token has a random name; it goes by
// this one in plans.
const (
	tokenVolumePrefix = "kube-api-access-"
	tokenVolumeName   = tokenVolumePrefix + "*"
	tokenVolumePath   = `spec.volumes[name="` + tokenVolumeName + `"]`
	tokenMountPath    = "/var/run/secrets/kubernetes.io/serviceaccount"
	tokenMountSuffix  = `].volumeMounts[mountPath="` + tokenMountPath + `"]`
)

// renameTokenVolume takes the random name out of a Pod, in place. A volume
// that only bears such a name, and holds anything else, keeps it: it is a
// finding.
func renameTokenVolume(pod map[string]any) {
	spec, _ := pod["spec"].(map[string]any)
	name := ""
	for _, volume := range entriesOf(spec, "volumes") {
		if isTokenVolume(volume) {
			name, _ = volume["name"].(string)
			volume["name"] = tokenVolumeName
		}
	}
	if name == "" {
		return
	}
	for _, containers := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, container := range entriesOf(spec, containers) {
			for _, mount := range entriesOf(container, "volumeMounts") {
				if mount["name"] == name {
					mount["name"] = tokenVolumeName
				}
			}
		}
	}
}

// isTokenVolume knows the volume that the ServiceAccount admission adds: the
// token, the cluster's root certificate and the namespace's name, no more.
func isTokenVolume(volume map[string]any) bool {
	name, _ := volume["name"].(string)
	projected, _ := volume["projected"].(map[string]any)
	sources := entriesOf(projected, "sources")
	if !strings.HasPrefix(name, tokenVolumePrefix) || len(volume) != 2 || len(sources) != 3 {
		return false
	}
	_, token := sources[0]["serviceAccountToken"]
	root, _ := sources[1]["configMap"].(map[string]any)
	_, downward := sources[2]["downwardAPI"]
	return token && root["name"] == "kube-root-ca.crt" && downward
}

// entriesOf are the entries of a list of objects.
func entriesOf(parent map[string]any, key string) []map[string]any {
	list, _ := parent[key].([]any)
	out := make([]map[string]any, 0, len(list))
	for _, entry := range list {
		if object, ok := entry.(map[string]any); ok {
			out = append(out, object)
		}
	}
	return out
}
