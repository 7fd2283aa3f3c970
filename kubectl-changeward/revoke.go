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
	return o.verb(cobra.Command{
		Use: "revoke CHANGE...", Short: "take back your own approval", Long: revokeLong, Example: revokeExample,
	}, gate.Approved, gate.AwaitingApproval)
}
