// Package argocd has the stories that people live with changeward and the real
// Argo CD, told by its tests: what a gate does to a sync. `make e2e-argocd`
// runs them.
package argocd
