package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
)

const gateLong = `Plan, ask the cluster's policy, record, and answer: the exit code is 0 only if exactly this plan
is allowed.

The first run puts the plan forward as a change request, and exits 2 when people must approve it.
Once they have (see approve), the same gate passes, for as long as the plan stays the same: other
changes in the cluster do not matter, unless they touch a field that this plan touches. A run that
finds nothing new records nothing.

Exit codes: 0 allowed, 1 error (nothing is allowed), 2 approval required, 4 denied or rejected.`

const gateExample = `  # in a pipeline, before the rollout
  kubectl changeward gate -f apps/shop --target prod-eu

  # on a laptop: wait until somebody decides
  kubectl changeward gate -f apps/shop --wait --timeout 30m

  # as Argo CD would sync it, deletes included
  kubectl changeward gate -f rendered/ --owner application/argocd/shop

  # for a pull-request comment
  kubectl changeward gate -k overlays/prod --out plan.md

  # ask again after a rejection
  kubectl changeward gate -f apps/shop --again --reason "now with a limit"`

type gateOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	input   cli.InputFlags
	output  cli.OutputFlag
	keys    cli.KeyFlags
	out     string
	author  string
	reason  string
	ticket  string
	again   bool
	wait    bool
	timeout time.Duration
	// showUnchanged lists objects that would not change.
	showUnchanged bool
}

func newGate(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &gateOptions{streams: streams, cluster: cluster, input: cli.InputFlags{Twice: true}}
	cmd := &cobra.Command{
		Use: "gate", Short: "pass only if this exact plan is allowed", Long: gateLong, Example: gateExample,
		Args: cli.Args(0, 0, "no arguments: name manifests with -f"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(cmd.Flags().Changed("timeout")); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.input.AddFlags(cmd)
	o.cluster.AddFlags(cmd, streams)
	o.output.AddFlag(cmd, cli.FormatMarkdown)
	o.keys.AddFlags(cmd)
	o.addFlags(cmd)
	return cmd
}

func (o *gateOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	cli.AddOutFlag(cmd, &o.out)
	flags.BoolVar(&o.wait, "wait", false, "wait for the decision instead of exiting with 2")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Minute, "how long to wait with --wait")
	flags.BoolVar(&o.again, "again", false, "put a rejected plan forward once more; takes --reason")
	flags.StringVar(&o.reason, "reason", "", "why this change is needed; shown to approvers")
	flags.StringVar(&o.ticket, "ticket", "", "ticket of this change; shown to approvers")
	flags.StringVar(&o.author, "author", "", "who made the change (default: as the CI's environment claims, or the commit of the checkout)")
	flags.StringVar(&o.input.Revision, "revision", "", "Git revision of the manifests (default: of the CI's environment, or the checkout)")
	flags.BoolVar(&o.showUnchanged, "show-unchanged", false, "list objects that would not change, too")
}

func (o *gateOptions) validate(limited bool) error {
	problems := []error{o.output.Validate(), o.input.Validate(true)}
	if o.again && o.reason == "" {
		problems = append(problems, cli.Usage("--again needs a --reason: what is different now?"))
	}
	if limited && !o.wait {
		problems = append(problems, cli.Usage("--timeout says how long --wait waits: say --wait, too"))
	}
	if o.timeout <= 0 {
		problems = append(problems, cli.Usage("--timeout must be positive"))
	}
	return errors.Join(problems...)
}
