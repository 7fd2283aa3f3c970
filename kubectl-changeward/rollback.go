package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

const rollbackLong = `Take back what a change request changed: each field that it changed is put back as it was
recorded, what it created is deleted, and what it deleted is made again. Fields that it did not touch
stay as they are now.

The way back is a plan of its own, in the scope of the request, and goes through the gate as a new
request: run it once to put it forward, and, once it is approved, again to carry it out. What cannot come
back is said first: data of volumes, values of Secrets, which are not kept, and what Jobs and hooks did.

Exit codes: 0 done, 1 error, 2 approval required, 4 denied or rejected.`

const rollbackExample = `  # put the way back forward; once it is approved, the same again
  kubectl changeward rollback c_9dd33d8939b8 --reason "checkout fails"
  kubectl changeward approve c_1c4a5b6d7e8f
  kubectl changeward rollback c_9dd33d8939b8`

type rollbackOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	output  cli.OutputFlag
	direct  directFlags
}

func newRollback(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &rollbackOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "rollback CHANGE", Short: "plan the way back, and once it is allowed, go it", Long: rollbackLong, Example: rollbackExample,
		Args: cli.Args(1, 1, "one change request, such as '#3'"), ValidArgsFunction: cli.CompleteRequests(streams, cluster, []gate.Status{
			gate.Approved, gate.AutoApproved, gate.Applied, gate.Diverged}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(o.output.Validate(), o.direct.validate()); err != nil {
				return err
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	o.cluster.AddFlags(cmd, streams)
	o.output.AddFlag(cmd)
	o.direct.addFlags(cmd)
	return cmd
}

func (o *rollbackOptions) run(ctx context.Context, ref string) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.CountsRecords)
	if err != nil {
		return err
	}
	request, err := session.Find(ctx, ref)
	if err != nil {
		return err
	}
	back, err := session.WayBack(ctx, request)
	if err != nil {
		return err
	}
	if !cli.Touched(request) {
		o.streams.Note("note: there is no record that " + request.ID + " was applied")
	}
	for _, lost := range back.Lost {
		o.streams.Note("does not come back: " + lost)
	}
	applied, err := o.apply(ctx, session, request, back)
	if applied != nil {
		applied.Lost = back.Lost
	}
	return finish(ctx, o.streams, o.output, applied, err, "run the rollback again")
}

func (o *rollbackOptions) apply(ctx context.Context, session *cli.Session, request gate.Request, back plan.Back) (*render.Applied, error) {
	return session.RunDirect(ctx, cli.Direct{Keys: o.direct.keys, NoWait: o.direct.noWait, Timeout: o.direct.timeout,
		Plan: func(ctx context.Context) (*cli.Planned, error) { return session.PlanBack(ctx, request, back) },
		Header: func(planned *cli.Planned) state.Plan {
			header := session.Header(planned)
			header.Reason, header.Ticket, header.Revision = "roll back "+request.ID, o.direct.ticket, ""
			if o.direct.reason != "" {
				header.Reason += fmt.Sprintf(": %s", o.direct.reason)
			}
			return header
		}})
}
