package main

import (
	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/state"
)

const revokeLong = `Take back your own approval of change requests.

It counts from the next gate run on. What a gate has let through before is not undone by it.`

const revokeExample = `  kubectl changeward revoke '#3' --reason "wrong window"`

func newRevoke(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &decideOptions{streams: streams, cluster: cluster, action: state.ActionRevoke}
	cmd := &cobra.Command{
		Use: "revoke CHANGE...", Short: "take back your own approval", Long: revokeLong, Example: revokeExample,
		Args:              cli.Args(1, -1, "change requests, such as '#3'"),
		ValidArgsFunction: cli.CompleteRequests(streams, cluster, []gate.Status{gate.Approved, gate.AwaitingApproval}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(args); err != nil {
				return err
			}
			return o.run(cmd.Context(), args)
		},
	}
	o.addFlags(cmd)
	return cmd
}
