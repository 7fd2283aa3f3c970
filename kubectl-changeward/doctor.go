package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/render"
)

const doctorLong = `Hold each promise of an install against the live cluster, and list every way around with its fix.

As you see it: is it whole, what may you do, do the keys fit, do the admission policies act. As an
admin of the cluster, also by access reviews about others: could a gate take its own fence down, may
anyone do more (or less) than the policy says; and from the role bindings: who may edit admission,
impersonate, purge, mint tokens, grant rights or read the gate's key. Then what is about to end
(policy, roster, tokens), which keys are in doubt, and whether Argo CD could sync past a hook.

fail is a promise that does not hold; warn is a way around one, or something that you may not look at.

Exit codes: 0 all well or warnings, 1 nothing could be checked, 3 a fault was found.`

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
