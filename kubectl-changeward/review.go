package main

import (
	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/cli"
)

const reviewLong = `Say that you have looked at a change that another person approved in an emergency.

The plan is shown as it was recorded, with who broke the glass and why. Whoever could have approved it,
or is on call, may review it, but not who approved, proposed or wrote it. What you found goes into
--reason; it is signed and kept. Until then list and show say that it is unreviewed, and once the
policy's emergency.review has passed, that it is overdue.`

const reviewExample = `  kubectl changeward list
  kubectl changeward review '#3' --reason "right call; the limit is in Git since #4"`

func newReview(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &decideOptions{streams: streams, cluster: cluster, action: approval.ActionReview}
	return o.verb(cobra.Command{
		Use: "review CHANGE...", Short: "look at what was approved in an emergency", Long: reviewLong, Example: reviewExample,
	})
}
