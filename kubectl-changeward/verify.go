package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

const verifyLong = `Compare live objects with what a change request was approved to make of them.

Each field that the plan changes is read again; fields that it does not touch, and hooks, are not
compared. What differs is shown with who wrote it last, and when. The request is marked applied, or
diverged, where that is news. It works for plans of any applier: as a step of a pipeline, a PostSync
hook of Argo CD, or a cron job.

Exit codes: 0 as approved, 1 error, 3 something differs.`

const verifyExample = `  # after a rollout
  kubectl changeward verify c_9dd33d8939b8

  # what differs, for a machine
  kubectl changeward verify '#3' -o json`

type verifyOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	output  cli.OutputFlag
	keys    cli.KeyFlags
}

func newVerify(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &verifyOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "verify CHANGE", Short: "compare live objects with what was approved", Long: verifyLong, Example: verifyExample,
		Args: cli.Args(1, 1, "one change request, such as '#3'"), ValidArgsFunction: cli.CompleteRequests(streams, cluster, []gate.Status{
			gate.Approved, gate.AutoApproved, gate.Applied, gate.Diverged}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.output.Validate(); err != nil {
				return err
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	o.cluster.AddFlags(cmd, streams)
	o.output.AddFlag(cmd)
	o.keys.AddFlags(cmd)
	return cmd
}

func (o *verifyOptions) run(ctx context.Context, ref string) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsRecords, ref)
	if err != nil {
		return err
	}
	request, err := session.Ledger.Find(ref)
	if err != nil {
		return err
	}
	verified, err := session.Verify(ctx, request)
	if err != nil {
		return err
	}
	if session.Gate.Signer, err = session.GateSigner(ctx, o.keys); err != nil {
		return err
	}
	if err := session.Mark(ctx, verified); err != nil {
		return err
	}
	if err := o.streams.Print(o.output, cli.Result{Text: func() string { return o.streams.Style().Verified(verified) },
		JSON: func() any { return render.VerifyDocument(verified) }}); err != nil {
		return err
	}
	return o.answer(verified)
}

func (o *verifyOptions) answer(v *render.Verified) error {
	failure := &cli.Failure{Code: cli.ExitFindings, Reason: cli.ReasonFindings, Reported: true}
	switch v.Result {
	case state.ResultApplied:
		return nil
	case state.ResultDiverged:
		failure.Err = errors.New("the cluster is not as approved")
		failure.Hints = []string{fmt.Sprintf("to go back to before the change: `%s rollback %s`", o.streams.Program, v.Request.ID)}
	default:
		failure.Err = errors.New("the change is not applied, or not in full")
	}
	return failure
}
