package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
)

const rootLong = `flux changeward builds what Flux would build of a Kustomization, plans what Flux would then do,
deletes included, and lets exactly that plan pass once the right people have approved it.

Records, policy and approvals are those of ` + "`kubectl changeward`" + `, which also has the verbs to decide.
The namespace of a Kustomization is --namespace, else FLUX_SYSTEM_NAMESPACE, else flux-system.

Exit codes: 0 allowed or done, 1 error, 2 approval required, 3 findings, 4 denied or rejected.`

const rootExample = `  # in a pull request: what would Flux do once this is merged?
  flux changeward diff kustomization apps -f .

  # stop until this exact plan is approved
  flux changeward gate kustomization apps -f .`

// newRoot builds the whole command.
func newRoot(streams cli.Streams) *cobra.Command {
	root := cli.NewRoot("flux-changeward", streams)
	root.Short = "plan, approve and gate what Flux applies"
	root.Long = rootLong
	root.Example = rootExample
	cluster := cli.NewClusterFlags(root)
	defaultNamespace(root, cluster, streams)
	root.AddCommand(newGate(streams, cluster), newDiff(streams, cluster), newIncident(streams, cluster), cli.NewCompletion(streams, ""), cli.NewVersion(streams))
	return root
}

// defaultNamespace makes --namespace what it is for the Flux CLI.
func defaultNamespace(root *cobra.Command, cluster *cli.ClusterFlags, streams cli.Streams) {
	namespace := "flux-system"
	if streams.Env != nil {
		namespace = cmp.Or(streams.Env("FLUX_SYSTEM_NAMESPACE"), namespace)
	}
	*cluster.Kube.Namespace = namespace
	root.PersistentFlags().Lookup("namespace").DefValue = namespace
}
