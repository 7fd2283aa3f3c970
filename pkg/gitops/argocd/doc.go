// Package argocd says what Argo CD owns, prunes and skips, as its application
// controller decides it. It takes objects as they were read, and reads nothing
// itself.
//
// Enter at ReadSettings for what the install says, ReadApplication for the
// owner, then NewApplier for plans of what it applies, or Application.Options
// for a single object, Application.Keep for one that left the manifests, Settings.Claim for what a
// live object says about its owner.
package argocd

const (
	// Group is the API group of Applications.
	Group = "argoproj.io"
	// Applier is the name under which plans know Argo CD.
	Applier = "argocd"
	// Manager is the field manager of its applies, of both modes.
	Manager = "argocd-controller"
	// ReplaceManager is the field manager of its other writes, which name none.
	ReplaceManager = "argocd-application-controller"

	trackingID      = "argocd.argoproj.io/tracking-id"
	installationID  = "argocd.argoproj.io/installation-id"
	syncOptions     = "argocd.argoproj.io/sync-options"
	compareOptions  = "argocd.argoproj.io/compare-options"
	approved        = "argocd.argoproj.io/deletion-approved"
	clientSideApply = "kubectl-client-side-apply"
	migratesFrom    = "argocd.argoproj.io/client-side-apply-migration-manager"
)
