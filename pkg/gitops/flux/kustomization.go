package flux

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/changeward/changeward/pkg/manifest"
)

// Kustomization is what decides how Flux applies a set of manifests.
type Kustomization struct {
	Namespace, Name, UID string
	Deleting             bool // Flux applies nothing any more
	Suspended            bool // Flux applies nothing until it is resumed
	Remote               bool // its objects live in another cluster
	Prune                bool
	Force                bool // what cannot be patched is replaced
	TargetNamespace      string
	ServiceAccount       string // that it applies as; "" is the controller's own
	CommonLabels         map[string]string
	CommonAnnotations    map[string]string
	Ignore               []IgnoreRule
	LastAppliedRevision  string
	DependsOn            []Dependency
	Decrypts             bool // what is encrypted with SOPS
	// Reconciled is when the last reconciliation that made the cluster so began;
	// zero: it does not say.
	Reconciled time.Time
	Controller Controller // that applies it
	// Inventory is what it applied last, and the version that each object had.
	Inventory map[manifest.Key]string
}

// Dependency is a Kustomization that must be ready first.
type Dependency struct{ Namespace, Name string }

// IgnoreRule names fields that Flux leaves to others.
type IgnoreRule struct {
	Paths  []string     `json:"paths"`  // JSON pointers
	Target *IgnoreScope `json:"target"` // nil: all objects
}

// IgnoreScope selects objects; empty members select all. Group, version, kind,
// namespace and name are regular expressions that match in whole.
type IgnoreScope struct {
	Group              string `json:"group"`
	Version            string `json:"version"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	Namespace          string `json:"namespace"`
	AnnotationSelector string `json:"annotationSelector"`
	LabelSelector      string `json:"labelSelector"`
}

// wire is a Kustomization or HelmRelease as it is stored.
type wire struct {
	Metadata struct {
		Namespace         string `json:"namespace"`
		Name              string `json:"name"`
		UID               string `json:"uid"`
		DeletionTimestamp string `json:"deletionTimestamp"`
	} `json:"metadata"`
	Spec struct {
		Suspend            bool           `json:"suspend"`
		Prune              bool           `json:"prune"`
		Force              bool           `json:"force"`
		TargetNamespace    string         `json:"targetNamespace"`
		ServiceAccountName string         `json:"serviceAccountName"`
		KubeConfig         map[string]any `json:"kubeConfig"`
		CommonMetadata     struct {
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"commonMetadata"`
		Ignore     []IgnoreRule `json:"ignore"`
		DependsOn  []Dependency `json:"dependsOn"`
		Decryption struct {
			Provider string `json:"provider"`
		} `json:"decryption"`
	} `json:"spec"`
	Status struct {
		LastAppliedRevision string       `json:"lastAppliedRevision"`
		Inventory           inventory    `json:"inventory"`
		History             meta.History `json:"history"`
	} `json:"status"`
}

// inventory is the part of a status that lists objects.
type inventory struct {
	Entries []struct {
		ID string `json:"id"`
		V  string `json:"v"`
	} `json:"entries"`
}

// ReadKustomization reads a Kustomization. An error means that some member is
// not what Flux defines, so that nothing can be said in its name; all entries
// of the inventory that cannot be read are named.
func ReadKustomization(object map[string]any) (*Kustomization, error) {
	var w wire
	if err := convert(object, &w); err != nil {
		return nil, err
	}
	listed, err := w.Status.Inventory.read()
	if err != nil {
		return nil, err
	}
	for i := range w.Spec.DependsOn {
		w.Spec.DependsOn[i].Namespace = cmp.Or(w.Spec.DependsOn[i].Namespace, w.Metadata.Namespace)
	}
	return &Kustomization{
		DependsOn: w.Spec.DependsOn, Decrypts: w.Spec.Decryption.Provider == "sops",
		Namespace: w.Metadata.Namespace, Name: w.Metadata.Name, UID: w.Metadata.UID,
		Deleting: w.Metadata.DeletionTimestamp != "", Suspended: w.Spec.Suspend, Remote: len(w.Spec.KubeConfig) > 0,
		Prune: w.Spec.Prune, Force: w.Spec.Force, TargetNamespace: w.Spec.TargetNamespace, ServiceAccount: w.Spec.ServiceAccountName,
		CommonLabels: w.Spec.CommonMetadata.Labels, CommonAnnotations: w.Spec.CommonMetadata.Annotations, Ignore: w.Spec.Ignore,
		LastAppliedRevision: w.Status.LastAppliedRevision, Reconciled: succeeded(w.Status.History), Inventory: listed,
	}, nil
}

// succeeded is when the newest reconciliation began, if it succeeded.
func succeeded(history meta.History) time.Time {
	newest := history.Latest()
	if newest == nil || newest.LastReconciledStatus != meta.ReconciliationSucceededReason {
		return time.Time{}
	}
	return newest.LastReconciled.Add(-newest.LastReconciledDuration.Duration).UTC()
}

// ReadInventory is what a Kustomization or HelmRelease lists as its own. The
// error is as that of ReadKustomization.
func ReadInventory(object map[string]any) (map[manifest.Key]string, error) {
	var w struct {
		Status struct {
			Inventory inventory `json:"inventory"`
		} `json:"status"`
	}
	if err := convert(object, &w); err != nil {
		return nil, err
	}
	return w.Status.Inventory.read()
}

func convert(object map[string]any, into any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	err = json.Unmarshal(data, into)
	if wrong := (&json.UnmarshalTypeError{}); errors.As(err, &wrong) {
		return fmt.Errorf("%s is of the wrong type: %s", wrong.Field, wrong.Value)
	}
	return err
}

func (i inventory) read() (map[manifest.Key]string, error) {
	out := map[manifest.Key]string{}
	var problems []error
	for _, entry := range i.Entries {
		key, err := ParseID(entry.ID)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		out[key] = entry.V
	}
	return out, errors.Join(problems...)
}
