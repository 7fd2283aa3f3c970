package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
)

const incidentStartLong = `Suspend Kustomizations and HelmReleases, so that Flux does not undo what you change by hand.

A signed record is written first, with who, why and until when; then the owners are suspended. A
Kustomization that itself sets spec.suspend of one of them would resume it, and is suspended, too.
What is suspended already, by nobody or by you, is taken over; what somebody else keeps suspended
is theirs. Flux is waited for until it is done with what it was at.

Run again with the same names, it goes on where it was stopped. Where records cannot be written,
--no-record suspends nevertheless; run it again later without, and it takes over.

NAME is a Kustomization in the namespace, or KIND/NAME, or KIND/NAMESPACE/NAME.`

const incidentStartExample = `  flux changeward incident start apps --reason "checkout is down" --ticket INC-7 --until 4h

  # a HelmRelease of another namespace, too
  flux changeward incident start apps helmrelease/shop/cart --reason "cart is slow"`

type incidentStartOptions struct {
	cli.IncidentStart
	streams cli.Streams
	cluster *cli.ClusterFlags
	output  cli.OutputFlag
	until   string
}

func newIncidentStart(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &incidentStartOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "start NAME...", Short: "suspend owners, and record why", Long: incidentStartLong, Example: incidentStartExample,
		Args: cli.Args(1, -1, "the names of Kustomizations or HelmReleases"), ValidArgsFunction: completeKustomizations(streams, cluster),
		RunE: func(cmd *cobra.Command, names []string) error {
			o.Names = names
			if err := errors.Join(o.output.Validate(), o.validate()); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Reason, "reason", "", "why; it is signed and kept (required)")
	flags.StringVar(&o.Ticket, "ticket", "", "ticket; it is signed and kept")
	flags.StringVar(&o.until, "until", "", "how long it may take, such as 4h; then list --overdue names it")
	flags.BoolVar(&o.Unrecorded, "no-record", false, "suspend without a record")
	o.Keys.AddFlags(cmd)
	cluster.AddFlags(cmd, streams)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *incidentStartOptions) validate() error {
	if o.Reason == "" {
		return cli.Usage("an incident needs a --reason")
	}
	if o.until == "" {
		return nil
	}
	limit, err := cli.Age(o.until)
	if err != nil || limit < time.Second {
		return cli.Usage("--until " + o.until + ": want how long it may take, such as 4h or 2d")
	}
	o.For = limit
	return nil
}

func (o *incidentStartOptions) run(ctx context.Context) error {
	need := cli.NeedsRecords
	if o.Unrecorded {
		need = cli.NeedsCluster
	}
	session, err := cli.Connect(ctx, o.cluster, o.streams, need)
	if err != nil {
		return o.unrecorded(err)
	}
	started, err := session.StartIncident(ctx, o.IncidentStart)
	if err != nil {
		return o.unrecorded(err)
	}
	return printIncident(o.streams, o.output, started)
}

// unrecorded adds to a failure about records that suspending goes without them.
func (o *incidentStartOptions) unrecorded(err error) error {
	failure := cli.Explain(err, o.streams.Advice())
	if cli.AboutRecords(err) && !o.Unrecorded {
		failure.Hints = append(failure.Hints, "nothing is suspended: --no-record suspends without a record")
	}
	return failure
}
