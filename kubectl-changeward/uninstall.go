package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/render"
)

const uninstallLong = `Take changeward out of a cluster: bindings first, then admission policies, namespaces and roles.

Every plan, approval and audit entry in the cluster is deleted with it. It shows what it will
delete, and asks. It can be stopped and run again.`

type uninstallOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	output  cli.OutputFlag
	keys    cli.KeyFlags
	timeout time.Duration
}

func newUninstall(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &uninstallOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "uninstall", Short: "take changeward out of a cluster", Long: uninstallLong,
		Example: "  kubectl changeward uninstall",
		Args:    cli.Args(0, 0, "no arguments"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.output.Validate(); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().DurationVar(&o.timeout, "timeout", 2*time.Minute, "how long to wait until all is gone")
	o.keys.AddYes(cmd)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *uninstallOptions) run(ctx context.Context) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsCluster)
	if err != nil {
		return err
	}
	prepared, err := install.PrepareUninstall(ctx, session.Install)
	if err != nil {
		return err
	}
	var done []install.Step
	if steps := prepared.Steps(); len(steps) > 0 {
		o.streams.Story(o.streams.ErrStyle().Steps(steps))
		if err := session.Asker().Confirm("delete all of this, records and all, from this cluster ("+session.Config.Host+")?", o.keys.Yes); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, o.timeout)
		defer cancel()
		if err := prepared.Apply(ctx, func(step install.Step) { done = append(done, step) }); err != nil {
			return cli.Fail(cli.ReasonFailed, err, "what was deleted is gone; run uninstall again for the rest")
		}
	}
	return o.streams.Print(o.output, cli.Result{
		Text: func() string {
			if len(done) == 0 {
				return "changeward is not installed here: nothing to do\n"
			}
			return "uninstalled\n"
		},
		JSON: func() any {
			return render.StepsResult{Type: render.Head(render.KindUninstallResult), Steps: append([]install.Step{}, done...)}
		},
	})
}
