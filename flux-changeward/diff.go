package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
)

const diffLong = `Build Kustomizations as Flux would, and show what Flux would then do, and what policy would say.

Every object is sent to the API server as a dry run. Nothing is changed and nothing is recorded.
The exit code is 0 when every object could be planned; with --exit-code it is that of the gate.`

const diffExample = `  # what would merging this do?
  flux changeward diff kustomization apps -f .

  # what will Flux do at its next reconciliation?
  flux changeward diff kustomization apps --from-owner`

func newDiff(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	showing := cli.Showing{Streams: streams}
	var source sourceFlags
	cmd := &cobra.Command{
		Use: "kustomization NAME...", Aliases: []string{"ks", "kustomizations"},
		Short: "show what Flux would do; records nothing", Long: diffLong, Example: diffExample,
		Args: cli.Args(1, -1, "the names of Kustomizations"), ValidArgsFunction: completeKustomizations(streams, cluster),
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := errors.Join(showing.Validate(), source.validate()); err != nil {
				return err
			}
			session, err := cli.Connect(cmd.Context(), cluster, streams, cli.TakesRecords)
			if err != nil {
				return err
			}
			return showing.Run(cmd.Context(), session, source.inputs(*cluster.Kube.Namespace, names)...)
		},
	}
	source.addFlags(cmd)
	cluster.AddFlags(cmd, streams)
	showing.AddFlags(cmd)
	return cli.Group("diff", "show what Flux would do; records nothing", cmd, refused("diff"))
}
