// Package flux says what Flux owns, prunes and skips, as kustomize-controller
// decides it. It takes objects as they were read, and reads nothing itself.
//
// Enter at ReadKustomization for the owner, then NewApplier for plans of what it
// applies, or Skip, Forced and Merges for a single object, Keep for one that left the manifests, Claims for what
// a live object says about its owner.
package flux

const (
	// Group is the API group of Kustomizations, and the domain of the
	// annotations and labels that steer Flux.
	Group = "kustomize.toolkit.fluxcd.io"
	// HelmGroup is the API group of HelmReleases.
	HelmGroup = "helm.toolkit.fluxcd.io"
	// Applier is the name under which plans know Flux.
	Applier = "flux"
	// Manager is the field manager of kustomize-controller.
	Manager = "kustomize-controller"
	// HelmManager is the field manager of helm-controller.
	HelmManager = "helm-controller"
	// Propagation of its deletes.
	Propagation = "background"
)
