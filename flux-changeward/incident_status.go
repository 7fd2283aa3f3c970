package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
)

const incidentStatusLong = `Show an incident: who opened it and why, and each of its owners as it is now.

INCIDENT is an id, or the name of an owner; without one it is the only open incident.`

const incidentStatusExample = `  flux changeward incident status
  flux changeward incident status i_0f1e2d3c4b5a -o json`

func newIncidentStatus(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	var output cli.OutputFlag
	return incidentVerb(cobra.Command{
		Use: "status [INCIDENT]", Short: "show an incident and its owners", Long: incidentStatusLong, Example: incidentStatusExample,
	}, streams, cluster, &output, func(ctx context.Context, session *cli.Session, ref string) error {
		found, err := session.FindIncident(ref)
		if err != nil {
			return err
		}
		status, err := session.IncidentStatus(ctx, found)
		if err != nil {
			return err
		}
		return printIncident(streams, output, status)
	})
}
