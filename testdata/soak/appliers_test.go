package soak_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/kubetest"
)

// applier is one way to apply: how it is planned, and how it is really done.
type applier struct {
	name  string
	plans dryrun.Applier
	apply func(t *testing.T, c *kubetest.Cluster, text string)
}

// appliers are all that there are.
func appliers(t *testing.T) []applier {
	kustomization, err := flux.NewApplier(&flux.Kustomization{})
	assert.NilError(t, err)
	return []applier{
		{"changeward", dryrun.Changeward(false), serverSide(dryrun.Manager)},
		{"changeward-force", dryrun.Changeward(true), serverSide(dryrun.Manager)},
		{"kubectl-client", dryrun.KubectlClient("", false), kubectl()},
		{"kubectl-server", dryrun.KubectlServer("kubectl", false), kubectl("--server-side", "--force-conflicts")},
		{"kubectl-server-force", dryrun.KubectlServer("kubectl", true), kubectl("--server-side", "--force-conflicts")},
		{"flux", kustomization, serverSide("kustomize-controller")},
		{"argocd", argocd.NewApplier(&argocd.Application{}, argocd.ReadSettings("argocd", nil)), kubectl("--field-manager=argocd-controller", "--validate=warn")},
		{"auto", dryrun.Auto(false, (&gitops.Tools{}).By), kubectl()},
	}
}

// serverSide applies under a manager, and takes back what a drift has taken.
func serverSide(manager string) func(*testing.T, *kubetest.Cluster, string) {
	return func(t *testing.T, c *kubetest.Cluster, text string) {
		c.ForceApply(t, kubetest.Admin, manager, text)
	}
}

func kubectl(flags ...string) func(*testing.T, *kubetest.Cluster, string) {
	return func(t *testing.T, c *kubetest.Cluster, text string) {
		args := append([]string{"apply", "--kubeconfig", c.Kubeconfig(), "-f", "-"}, flags...)
		icmd.RunCmd(icmd.Command("../../bin/kubectl", args...), icmd.WithStdin(strings.NewReader(text))).Assert(t, icmd.Success)
	}
}
