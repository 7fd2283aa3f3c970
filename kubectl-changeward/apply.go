package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

const applyLong = `Apply manifests directly, past any owner, if exactly this plan is allowed.

The manifests are planned again, as changeward itself applies them, and put through the gate. With
a change request, only that one may let them pass. Namespaces are written first, then definitions
of kinds, rights, configuration, workloads, and webhooks last. What was changed, deleted or made anew since
it was planned is planned again, and written only if its change is still the same: nothing that others
did is overwritten. At the first object that cannot be written it stops.

A half-finished apply goes on when it is run again; it needs no new approval. Then it waits until
workloads run. Hooks of Argo CD and Helm are not run.

Exit codes: 0 done, 1 error, 2 approval required, 4 denied or rejected.`

const applyExample = `  # put the plan forward, have it approved, and apply it
  kubectl changeward gate -f apps/shop --direct
  kubectl changeward apply -f apps/shop

  # exactly this change request, or nothing
  kubectl changeward apply -f apps/shop c_9dd33d8939b8

  # wait at most two minutes for rollouts
  kubectl changeward apply -f apps/shop --rollout-timeout 2m`

type applyOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	input   cli.InputFlags
	output  cli.OutputFlag
	direct  directFlags
}

// directFlags are those of verbs that write to the cluster.
type directFlags struct {
	keys    cli.KeyFlags
	noWait  bool
	timeout time.Duration
	reason  string
	ticket  string
}

func (f *directFlags) addFlags(cmd *cobra.Command) {
	f.keys.AddFlags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.noWait, "no-wait", false, "do not wait until workloads run")
	flags.DurationVar(&f.timeout, "rollout-timeout", 0, "how long to wait until workloads run (default: as stored by connect, else 5m)")
	flags.StringVar(&f.reason, "reason", "", "why this change is needed; shown to approvers")
	flags.StringVar(&f.ticket, "ticket", "", "ticket of this change; shown to approvers")
}

func (f *directFlags) validate() error {
	switch {
	case f.timeout < 0:
		return cli.Usage("--rollout-timeout must be positive")
	case f.noWait && f.timeout > 0:
		return cli.Usage("choose one of --no-wait and --rollout-timeout")
	}
	return nil
}

func newApply(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &applyOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "apply [CHANGE]", Short: "write exactly the allowed plan to the cluster", Long: applyLong, Example: applyExample,
		Args:              cli.Args(0, 1, "at most one change request: name manifests with -f"),
		ValidArgsFunction: cli.CompleteRequests(streams, cluster, []gate.Status{gate.Approved, gate.AutoApproved}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(o.output.Validate(), o.input.Validate(true), o.direct.validate()); err != nil {
				return err
			}
			return o.run(cmd.Context(), args)
		},
	}
	o.input.AddDirectFlags(cmd)
	o.cluster.AddFlags(cmd, streams)
	o.output.AddFlag(cmd)
	o.direct.addFlags(cmd)
	return cmd
}

func (o *applyOptions) run(ctx context.Context, args []string) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.CountsRecords)
	if err != nil {
		return err
	}
	only := ""
	if len(args) > 0 {
		request, err := session.Find(ctx, args[0])
		if err != nil {
			return err
		}
		only = request.ID
	}
	applied, err := session.RunDirect(ctx, cli.Direct{Keys: o.direct.keys, NoWait: o.direct.noWait, Timeout: o.direct.timeout, Only: only,
		Plan: func(ctx context.Context) (*cli.Planned, error) { return session.Plan(ctx, o.input) },
		Header: func(planned *cli.Planned) state.Plan {
			header := session.Header(planned)
			header.Reason, header.Ticket = o.direct.reason, o.direct.ticket
			return header
		}})
	return finish(ctx, o.streams, o.output, applied, err, "run the apply again")
}

// finish prints how far a direct apply came, and turns it into an exit code.
func finish(ctx context.Context, streams cli.Streams, output cli.OutputFlag, a *render.Applied, err error, again string) error {
	if a == nil || ctx.Err() != nil { // interrupted: the story has told what was written
		return err
	}
	failed := err
	if err := streams.Print(output, cli.Result{Text: func() string { return streams.Style().Applied(a) },
		JSON: func() any { return render.ApplyDocument(a) }}); err != nil {
		return err
	}
	switch {
	case a.Result == "" && !a.View.Plan.Complete():
		return cli.Incomplete(a.View.Plan)
	case a.Result == "" && failed == nil:
		return refused(streams.Program, a.Gate, again)
	case failed == nil:
		return nil
	}
	failure := cli.Explain(failed, streams.Program)
	failure.Reported = true
	failure.Hints = append(failure.Hints, afterwards(streams.Program, a, again)...)
	return failure
}

// refused is the exit where the gate did not let it pass.
func refused(program string, r *gate.Result, again string) error {
	var hints []string
	if r.Request != nil && r.Verdict.Decision == state.VerdictApprovalRequired {
		hints = append(hints, fmt.Sprintf("approve with `%s approve %s`, then %s", program, r.Request.ID, again))
	}
	return cli.VerdictFailure(r.Verdict, program, hints...)
}

// afterwards says how to go on, and how to go back.
func afterwards(program string, a *render.Applied, again string) []string {
	if a.Gate.Request == nil {
		return nil
	}
	back := fmt.Sprintf("to take back what was written: `%s rollback %s`", program, a.Gate.Request.ID)
	if a.Result == state.ResultStopped {
		return []string{"once the cause is mended, " + again + ": it goes on with what is left, on the same approval", back}
	}
	return []string{again + " to go on waiting", back}
}
