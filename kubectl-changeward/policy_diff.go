package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/render"
)

const policyDiffLong = `Replay the recorded plans under a draft of the policy, and list those that would get another answer
than from the policy in force: another verdict, or other people who must approve.

Each plan is judged as of the time when it was recorded, so freezes and expiry count as they would
have. Approvals do not matter, nothing is recorded, and the draft is not set: policy set does that.

Exit codes: 0 no difference, 1 nothing could be compared, 3 some plans get another answer, or could
not be judged.`

const policyDiffExample = `  kubectl changeward policy show > policy.yaml
  kubectl changeward policy diff policy.yaml
  kubectl changeward policy diff policy.yaml -o json`

type policyDiffOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	output  cli.OutputFlag
	file    string
}

func newPolicyDiff(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &policyDiffOptions{streams: streams, cluster: cluster}
	cmd := fileVerb(cobra.Command{
		Use: "diff FILE", Short: "replay recorded plans under a draft", Long: policyDiffLong, Example: policyDiffExample,
	}, "one file", "the same as FILE; - is standard input", &o.file, &o.output, o.run)
	cluster.AddFlags(cmd, streams)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *policyDiffOptions) run(ctx context.Context) error {
	_, draft, err := readPolicy(o.streams, o.file)
	if err != nil {
		return err
	}
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsRecords)
	if err != nil {
		return err
	}
	replayed, err := session.Gate.Replay(ctx, session.Ledger, draft, cli.LaneGitOps)
	if err != nil {
		return err
	}
	_, version := session.Ledger.Policy()
	err = o.streams.Print(o.output, cli.Result{
		Text: func() string { return o.streams.Style().PolicyDiff(version, replayed) },
		JSON: func() any { return render.PolicyDiffDocument(version, replayed) },
	})
	if err != nil || !slices.ContainsFunc(replayed, gate.Replayed.Differs) {
		return err
	}
	return &cli.Failure{Code: cli.ExitFindings, Reason: cli.ReasonFindings, Reported: true, Err: errors.New("the draft gives other answers")}
}
