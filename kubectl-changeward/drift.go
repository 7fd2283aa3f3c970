package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/render"
)

const driftLong = `List changes that were applied directly, past Git, the oldest first, and say of each whether Git
has it by now.

A change is reconciled only when the owner's own manifests, of the revision that it applied last,
set each field to the value, the owner has reconciled since, and the cluster still has it. It is
reverted when the cluster no longer has it. Who holds a field proves nothing.

What Flux applies is built from its source in the cluster, or with --k8s-dir from a checkout of the
same revision. For Applications of Argo CD, and for what nobody owns, name the directory.

--settle records what is reconciled, so that it is not asked about again, and passes its fields to
their owner: from then on a removal in Git removes them.

--all lists also what people changed past changeward: fields of objects of Flux and Argo CD that
kubectl and other tools of people hold, and that Git does not set so.

Exit codes: 0 Git has everything, 3 it does not (with --max-age: since longer than that), 1 error, or not all could be
looked at.`

const driftExample = `  kubectl changeward drift

  # what Git has is recorded, and its fields pass to the owner
  kubectl changeward drift --settle

  # in a cron job: fail when something is older than a day; for Prometheus' textfile collector
  kubectl changeward drift --all --max-age 24h
  kubectl changeward drift --all -o prometheus > /var/lib/node_exporter/changeward.prom`

type driftOptions struct {
	streams  cli.Streams
	cluster  *cli.ClusterFlags
	output   cli.OutputFlag
	options  cli.DriftOptions
	anywhere bool
	maxAge   string
	age      time.Duration
}

func newDrift(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &driftOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "drift", Short: "list direct changes that Git does not have", Long: driftLong, Example: driftExample,
		Args: cli.Args(0, 0, "no arguments"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.options.Dir, "k8s-dir", "", "checkout of the manifests that are applied, where the owner's source is not to be asked")
	flags.StringVar(&o.maxAge, "max-age", "", "exit with 3 only if one is older: an age such as 24h or 7d")
	flags.BoolVar(&o.options.Foreign, "all", false, "also what people's tools changed past changeward, in objects of Flux and Argo CD")
	flags.BoolVarP(&o.anywhere, "all-namespaces", "A", false, "objects of all namespaces (the default, unless -n names one)")
	flags.BoolVar(&o.options.Settle, "settle", false, "record what is reconciled, and pass its fields to the owner")
	cli.CompleteFolder(cmd, "k8s-dir")
	o.options.Keys.AddFlags(cmd)
	o.cluster.AddFlags(cmd, streams)
	o.output.AddFlag(cmd, cli.FormatMetrics)
	return cmd
}

func (o *driftOptions) validate() error {
	problems := []error{o.output.Validate()}
	if o.maxAge != "" {
		var err error
		if o.age, err = cli.Age(o.maxAge); err != nil {
			problems = append(problems, cli.Usage("--max-age "+err.Error()))
		}
	}
	return errors.Join(problems...)
}

func (o *driftOptions) run(ctx context.Context) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsRecords)
	if err != nil {
		return err
	}
	if given := o.cluster.Kube.Namespace; given != nil && !o.anywhere {
		o.options.Namespace = *given
	}
	drifted, err := session.Drift(ctx, o.options)
	if err != nil {
		return err
	}
	if err := o.streams.Print(o.output, cli.Result{Text: func() string { return o.streams.Style().Drift(drifted) },
		JSON: func() any { return render.DriftDocument(drifted) }, Metrics: func() string { return render.DriftMetrics(drifted) }}); err != nil {
		return err
	}
	open := drifted.Open(o.age)
	switch {
	case len(open) == 0 && len(drifted.Unseen) == 0:
		return nil
	case len(open) == 0:
		return &cli.Failure{Code: cli.ExitError, Reason: cli.ReasonForbidden, Reported: true, Err: fmt.Errorf("not all could be looked at: %s", drifted.Unseen[0])}
	}
	return &cli.Failure{Code: cli.ExitFindings, Reason: cli.ReasonFindings, Reported: true,
		Err:   fmt.Errorf("objects that were changed past Git, and Git does not have it: %d", len(open)),
		Hints: []string{"bring Git in line with `" + o.streams.Program + " reconcile --k8s-dir DIR`; once its owner has applied that, `drift --settle` closes it"}}
}
