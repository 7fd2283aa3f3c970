package argocd

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/manifest"
)

// Unowned is the application controller as it syncs by default, for objects
// whose Application is not known: they keep the marks of their owner, and new
// ones get none. serverSide says that the Application has
// ServerSideApply=true.
func Unowned(serverSide bool, s Settings) dryrun.Applier {
	a := &Application{}
	if serverSide {
		a.SyncOptions = []string{"ServerSideApply=true"}
	}
	return unowned{applier{a, s}}
}

// unknown is what a plan lacks that knows no Application.
const unknown = "its Application is not known, nor what that says of sync options, ignored differences and pruning: name it with --owner"

type unowned struct{ applier }

// Treat is the controller's sync of one object, with the marks that it has.
func (u unowned) Treat(desired manifest.Object, live *unstructured.Unstructured) (dryrun.Treatment, error) {
	if live != nil {
		desired = u.s.likeLive(desired, live.Object)
	}
	treatment, err := u.applier.Treat(desired, live)
	if live != nil && treatment.Content == nil {
		treatment.Content = desired.Content
	}
	treatment.Notes = append(treatment.Notes, unknown)
	return treatment, err
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
