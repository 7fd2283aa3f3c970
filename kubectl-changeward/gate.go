package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
)

const gateLong = `Plan, ask the cluster's policy, record, and answer: the exit code is 0 only if exactly this plan
is allowed.

The first run puts the plan forward as a change request, and exits 2 when people must approve it.
Once they have (see approve), the same gate passes, for as long as the plan stays the same: other
changes in the cluster do not matter, unless they touch a field that this plan touches. A run that
finds nothing new records nothing.

Exit codes: 0 allowed, 1 error (nothing is allowed), 2 approval required, 4 denied or rejected.`

const gateExample = `  # in a pipeline, before the rollout
  kubectl changeward gate -f apps/shop --target prod-eu

  # on a laptop: wait until somebody decides
  kubectl changeward gate -f apps/shop --wait --timeout 30m

  # as Argo CD would sync it, deletes included
  kubectl changeward gate -f rendered/ --owner application/argocd/shop

  # what Flux would build of the source in the cluster, and apply
  kubectl changeward gate --owner kustomization/flux-system/apps --from-owner

  # in a PreSync hook of Argo CD: exactly what the sync that is under way applies
  kubectl changeward gate --owner application/argocd/shop --git https://forge.example.com/team/config

  # for a pull-request comment
  kubectl changeward gate -k overlays/prod --out plan.md

  # ask again after a rejection
  kubectl changeward gate -f apps/shop --again --reason "now with a limit"`

func newGate(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	input, gating := cli.InputFlags{Twice: true}, cli.Gating{Streams: streams}
	cmd := &cobra.Command{
		Use: "gate", Short: "pass only if this exact plan is allowed", Long: gateLong, Example: gateExample,
		Args: cli.Args(0, 0, "no arguments: name manifests with -f"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(gating.Validate(), input.Validate(true)); err != nil {
				return err
			}
			session, err := cli.Connect(cmd.Context(), cluster, streams, cli.CountsRecords)
			if err != nil {
				return err
			}
			return gating.Run(cmd.Context(), session, input)
		},
	}
	input.AddFlags(cmd)
	cluster.AddFlags(cmd, streams)
	gating.AddFlags(cmd)
	return cmd
}
