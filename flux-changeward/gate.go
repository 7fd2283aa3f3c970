package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
)

const gateLong = `Build Kustomizations as Flux would, plan what Flux would then do, ask the cluster's policy,
record, and answer: the exit code is 0 only if exactly this plan is allowed.

Manifests come from a checkout (-f), or from the artifact that the source has in the cluster. Each
Kustomization is a change request of its own; those come first that others depend on.

Exit codes: 0 allowed, 1 error (nothing is allowed), 2 approval required, 4 denied or rejected.`

const gateExample = `  # a required check on a pull request
  flux changeward gate kustomization apps -f . --out plan.md

  # what source-controller has fetched, before Flux is resumed
  flux changeward gate kustomization apps --from-owner --revision 4fd3a91

  # several, in the order of their dependencies
  flux changeward gate kustomization infra apps -f .`

func newGate(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	gating := cli.Gating{Streams: streams}
	var source sourceFlags
	cmd := &cobra.Command{
		Use: "kustomization NAME...", Aliases: []string{"ks", "kustomizations"},
		Short: "pass only if exactly what Flux would do is allowed", Long: gateLong, Example: gateExample,
		Args: cli.Args(1, -1, "the names of Kustomizations"), ValidArgsFunction: completeKustomizations(streams, cluster),
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := errors.Join(gating.Validate(), source.validate()); err != nil {
				return err
			}
			session, err := cli.Connect(cmd.Context(), cluster, streams, cli.CountsRecords)
			if err != nil {
				return err
			}
			return gating.Run(cmd.Context(), session, source.inputs(*cluster.Kube.Namespace, names)...)
		},
	}
	source.addFlags(cmd)
	cluster.AddFlags(cmd, streams)
	gating.AddFlags(cmd)
	return cli.Group("gate", "pass only if exactly what Flux would do is allowed", cmd, refused("gate"))
}
