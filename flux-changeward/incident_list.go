package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/incident"
	"github.com/changeward/changeward/pkg/render"
)

const incidentListLong = `List open incidents, the oldest first; with --all those that have ended, too.

With --overdue only those are listed that should have ended, and the exit code is 3 if there is one:
this is what a CronJob asks.`

const incidentListExample = `  flux changeward incident list
  flux changeward incident list --overdue -o json`

func newIncidentList(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	var output cli.OutputFlag
	var overdue, all bool
	cmd := &cobra.Command{
		Use: "list", Short: "list open incidents", Long: incidentListLong, Example: incidentListExample,
		Args: cli.Args(0, 0, "no arguments"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.Validate(); err != nil {
				return err
			}
			session, err := cli.Connect(cmd.Context(), cluster, streams, cli.NeedsRecords)
			if err != nil {
				return err
			}
			return listIncidents(streams, session, output, overdue, all)
		},
	}
	cmd.Flags().BoolVar(&overdue, "overdue", false, "only those that should have ended; exits 3 if there is one")
	cmd.Flags().BoolVar(&all, "all", false, "also those that have ended")
	cluster.AddFlags(cmd, streams)
	output.AddFlag(cmd, cli.FormatName)
	return cmd
}

func listIncidents(streams cli.Streams, session *cli.Session, output cli.OutputFlag, overdue, all bool) error {
	now := session.Ledger.Now()
	listed := slices.DeleteFunc(session.Incidents(), func(i *incident.Incident) bool {
		return overdue && !i.Overdue(now) || !all && !i.Open()
	})
	list := render.NewIncidentList(listed, now)
	err := streams.Print(output, cli.Result{Text: func() string { return list.Text(now) }, JSON: func() any { return list }, Names: func() []string {
		var names []string
		for _, i := range listed {
			names = append(names, i.ID)
		}
		return names
	}})
	if err == nil && overdue && len(listed) > 0 {
		return &cli.Failure{Code: cli.ExitFindings, Reason: cli.ReasonFindings, Reported: true,
			Err:   fmt.Errorf("%d incidents are overdue", len(listed)),
			Hints: []string{"`" + streams.Program + " incident end` resumes once Git has all"}}
	}
	return err
}
