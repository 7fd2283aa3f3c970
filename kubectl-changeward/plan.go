package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
)

const planLong = `Show what applying manifests would change, and what policy would say.

Every object is sent to the API server as a dry run, so defaults, admission and conflicts are
those of the real cluster. Nothing is changed and nothing is recorded. It needs no install; where
there is one, its policy is asked.

A plan is what its applier would do: kubectl apply in either way, Flux, Argo CD, or changeward
itself. Without --applier each object is planned as by whoever applied it last, and a note says so.
--owner names the Kustomization or Application: only that tells options, ignored fields and deletes.

The exit code is 0 when every object could be planned, whatever the plan holds; with --exit-code
it is that of the gate: 0 allowed, 2 approval required, 4 denied.`

const planExample = `  # a directory of rendered manifests
  kubectl changeward plan -f apps/shop

  # what helm would apply
  helm template shop charts/shop | kubectl changeward plan -f - -n shop

  # what Flux would do, deletes included
  kubectl changeward plan -f rendered/ --owner kustomization/flux-system/apps

  # what kubectl apply --server-side would do, hand edits and all
  kubectl changeward plan -f apps/shop --applier kubectl-server

  # a kustomization, for a pull-request comment
  kubectl changeward plan -k overlays/prod -o markdown`

func newPlan(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	input, showing := cli.InputFlags{}, cli.Showing{Streams: streams}
	cmd := &cobra.Command{
		Use: "plan", Short: "show what would change; records nothing", Long: planLong, Example: planExample,
		Args: cli.Args(0, 0, "no arguments: name manifests with -f"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(showing.Validate(), input.Validate(false)); err != nil {
				return err
			}
			session, err := cli.Connect(cmd.Context(), cluster, streams, cli.TakesRecords)
			if err != nil {
				return err
			}
			return showing.Run(cmd.Context(), session, input)
		},
	}
	input.AddFlags(cmd)
	cluster.AddFlags(cmd, streams)
	showing.AddFlags(cmd)
	return cmd
}
