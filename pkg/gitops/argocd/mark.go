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

// likeLive is an object with the marks of the owner that LIVE names. An install
// that marks by labels overwrites the manifest's.
func (s Settings) likeLive(object manifest.Object, live map[string]any) manifest.Object {
	metadata, _ := object.Content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	present := manifest.Object{Content: live}
	for _, key := range []string{trackingID, installationID} {
		if value := present.Annotations()[key]; value != "" && annotations[key] == nil {
			annotations = with(annotations, key, value)
		}
	}
	if annotations != nil {
		metadata = with(metadata, "annotations", annotations)
	}
	if value := present.Labels()[s.Label]; value != "" && (s.Method == "label" || s.Method == "annotation+label") {
		labels, _ := metadata["labels"].(map[string]any)
		metadata = with(metadata, "labels", with(labels, s.Label, value))
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
