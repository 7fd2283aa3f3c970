package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/render"
)

const policyExplainLong = `Say for each change of a recorded plan which rule of the policy in force judged it, and why.`

func newPolicyExplain(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	var output cli.OutputFlag
	cmd := &cobra.Command{
		Use: "explain CHANGE", Short: "say which rule judged which change", Long: policyExplainLong,
		Example: "  kubectl changeward policy explain p_f88610636592\n  kubectl changeward policy explain '#3' -o json",
		Args:    cli.Args(1, 1, "one plan or change request"), ValidArgsFunction: cli.CompleteRequests(streams, cluster, nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.Validate(); err != nil {
				return err
			}
			return explain(cmd.Context(), streams, cluster, output, args[0])
		},
	}
	cluster.AddFlags(cmd, streams)
	output.AddFlag(cmd)
	return cmd
}

func explain(ctx context.Context, streams cli.Streams, cluster *cli.ClusterFlags, output cli.OutputFlag, ref string) error {
	session, err := cli.Connect(ctx, cluster, streams, cli.NeedsRecords, ref)
	if err != nil {
		return err
	}
	request, err := session.Ledger.Find(ref)
	if err != nil {
		return err
	}
	stored, _, _, err := session.Gate.Stored(ctx, request)
	if err != nil {
		return err
	}
	inForce, version := session.Ledger.Policy()
	input, err := session.Gate.PolicyInput(ctx, session.Ledger, stored, request.Header, cli.LaneGitOps)
	if err != nil {
		return err
	}
	explanations := inForce.Explain(input)
	return streams.Print(output, cli.Result{
		Text: func() string { return streams.Style().Explanations(version, explanations) },
		JSON: func() any { return render.ExplanationDocument(request, version, explanations) },
	})
}
