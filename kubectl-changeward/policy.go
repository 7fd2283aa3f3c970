package main

import (
	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/render"
)

func newPolicy(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	return cli.Group("policy", "show, test and set the policy", newPolicyShow(streams, cluster), newPolicySet(streams, cluster),
		newPolicyTest(streams, cluster), newPolicyDiff(streams, cluster), newPolicyExplain(streams, cluster))
}

const policyShowLong = `Show the policy in force, as it was set. It is a signed, versioned record in the cluster.`

func newPolicyShow(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	var output cli.OutputFlag
	var version int
	cmd := showVerb(cobra.Command{
		Use: "show", Short: "show the policy in force", Long: policyShowLong,
		Example: "  kubectl changeward policy show > policy.yaml\n  kubectl changeward policy show --version 3",
	}, streams, cluster, &output, func(session *cli.Session) error {
		source, err := session.Ledger.PolicySource(version)
		if err != nil {
			return err
		}
		if version == 0 {
			_, version = session.Ledger.Policy()
		}
		return streams.Print(output, cli.Result{
			Text: func() string { return render.EscapeBlock(source) },
			JSON: func() any {
				return render.Policy{Type: render.Head(render.KindPolicy), Version: version, Source: source}
			},
		})
	})
	cmd.Flags().IntVar(&version, "version", 0, "an earlier version (default: the one in force)")
	output.AddFlag(cmd)
	return cmd
}
