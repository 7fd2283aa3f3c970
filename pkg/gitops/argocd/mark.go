package argocd

import (
	"maps"

	"github.com/changeward/changeward/pkg/manifest"
)

// mark is an object with the annotations and labels by which Argo CD knows
// what belongs to the Application. It copies what it changes.
func (a *Application) mark(object manifest.Object, s Settings) manifest.Object {
	if isCRD(object) {
		return object // the one kind that is not marked
	}
	metadata, _ := object.Content["metadata"].(map[string]any)
	if s.Method != "label" {
		annotations, _ := metadata["annotations"].(map[string]any)
		key, value := a.TrackingID(object.Key(), s)
		annotations = with(annotations, key, value)
		delete(annotations, installationID)
		if s.InstallationID != "" {
			annotations[installationID] = s.InstallationID
		}
		metadata = with(metadata, "annotations", annotations)
	}
	if s.Method == "label" || s.Method == "annotation+label" {
		instance := a.InstanceName(s)
		if s.Method != "label" {
			instance = a.LabelValue(s)
		}
		labels, _ := metadata["labels"].(map[string]any)
		metadata = with(metadata, "labels", with(labels, s.Label, instance))
	}
	object.Content = with(object.Content, "metadata", metadata)
	return object
}

// with is a copy of a map with one member set.
func with(content map[string]any, key string, value any) map[string]any {
	out := maps.Clone(content)
	if out == nil {
		out = map[string]any{}
	}
	out[key] = value
	return out
}
