package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
)

const incidentEndLong = `Resume what an incident suspended, once Git has every change that was made by hand.

What the sources hold in the cluster is built as Flux would build it, and compared with each change.
If one is missing, nothing is resumed, and the exit code is 3. Else the owners are resumed, each
after those that it depends on; Flux is asked to reconcile, and each must become ready. Fields
that were changed directly go to their owner, and the end is recorded once no change was undone.

What somebody else suspended since stays so. It may be interrupted, and run again.
--force resumes though Git lacks a change: Flux then puts that one back.`

const incidentEndExample = `  flux changeward incident end
  flux changeward incident end i_0f1e2d3c4b5a --force --reason "the change is no longer wanted"`

func newIncidentEnd(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	var output cli.OutputFlag
	var o cli.IncidentEnd
	cmd := incidentVerb(cobra.Command{
		Use: "end [INCIDENT]", Short: "resume, once Git has every change", Long: incidentEndLong, Example: incidentEndExample,
	}, streams, cluster, &output, func(ctx context.Context, session *cli.Session, ref string) error {
		if o.Force && o.Reason == "" {
			return cli.Usage("--force needs a --reason")
		}
		found, err := session.FindIncident(ref)
		if err != nil {
			return err
		}
		ended, err := session.EndIncident(ctx, found, o)
		if ended == nil {
			return err
		}
		if printed := printIncident(streams, output, ended); printed != nil {
			return printed
		}
		return err
	})
	flags := cmd.Flags()
	flags.BoolVar(&o.Force, "force", false, "resume though Git lacks a change; takes --reason")
	flags.StringVar(&o.Reason, "reason", "", "why; it is signed and kept")
	flags.DurationVar(&o.Timeout, "timeout", 5*time.Minute, "how long to wait until each owner is ready")
	o.Keys.AddFlags(cmd)
	return cmd
}
