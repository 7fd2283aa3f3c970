package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/render"
)

func newIncident(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	return cli.Group("incident", "suspend, change by hand, bring Git in line, resume",
		newIncidentStart(streams, cluster), newIncidentStatus(streams, cluster), newIncidentList(streams, cluster), newIncidentEnd(streams, cluster))
}

// incidentVerb makes a verb that takes at most one incident.
func incidentVerb(cmd cobra.Command, streams cli.Streams, cluster *cli.ClusterFlags, output *cli.OutputFlag,
	run func(ctx context.Context, session *cli.Session, ref string) error) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = cli.Args(0, 1, "at most one incident"), cli.CompleteIncidents(streams, cluster)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := output.Validate(); err != nil {
			return err
		}
		session, err := cli.Connect(cmd.Context(), cluster, streams, cli.NeedsRecords)
		if err != nil {
			return err
		}
		return run(cmd.Context(), session, append(args, "")[0])
	}
	cluster.AddFlags(&cmd, streams)
	output.AddFlag(&cmd)
	return &cmd
}

func printIncident(streams cli.Streams, output cli.OutputFlag, i *render.Incident) error {
	return streams.Print(output, cli.Result{Text: func() string { return streams.Style().Incident(i) }, JSON: func() any { return i }})
}
