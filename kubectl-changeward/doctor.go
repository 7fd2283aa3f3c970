package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/render"
)

const doctorLong = `Check the install of a cluster, as you see it: is it whole, what may you do, do the keys fit, does
admission answer.

Exit codes: 0 all well, 1 nothing could be checked, 3 a fault was found.`

func newDoctor(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	var output cli.OutputFlag
	cmd := &cobra.Command{
		Use: "doctor", Short: "check the install", Long: doctorLong,
		Example: "  kubectl changeward doctor\n  kubectl changeward doctor --context prod-eu -o json",
		Args:    cli.Args(0, 0, "no arguments"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.Validate(); err != nil {
				return err
			}
			return examine(cmd.Context(), streams, cluster, output)
		},
	}
	cluster.AddTargetFlag(cmd, streams)
	output.AddFlag(cmd)
	return cmd
}

func examine(ctx context.Context, streams cli.Streams, cluster *cli.ClusterFlags, output cli.OutputFlag) error {
	session, err := cli.Connect(ctx, cluster, streams, cli.NeedsCluster)
	if err != nil {
		return err
	}
	report, err := install.Doctor(ctx, session.Install, session.Gate.Caller)
	if err != nil {
		return err
	}
	err = streams.Print(output, cli.Result{
		Text: func() string { return streams.Style().Report(report.Checks) },
		JSON: func() any {
			return render.DoctorReport{Type: render.Head(render.KindDoctorReport), Healthy: !report.Failed(), Checks: append([]install.Check{}, report.Checks...)}
		},
	})
	if err != nil || !report.Failed() {
		return err
	}
	return &cli.Failure{Code: cli.ExitFindings, Reason: cli.ReasonFindings, Reported: true, Err: errors.New("the install has faults")}
}
