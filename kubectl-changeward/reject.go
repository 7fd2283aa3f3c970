package main

import (
	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/state"
)

const rejectLong = `Reject change requests with your own SSH key.

One rejection by someone who could have approved is enough: the gate exits 4, and the plan can
only be put forward again with gate --again --reason.`

const rejectExample = `  kubectl changeward reject '#3' --reason "not before the release"`

func newReject(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &decideOptions{streams: streams, cluster: cluster, action: state.ActionReject}
	return o.verb(cobra.Command{
		Use: "reject CHANGE...", Short: "reject change requests", Long: rejectLong, Example: rejectExample,
	}, gate.AwaitingApproval, gate.Approved)
}
