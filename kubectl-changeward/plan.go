package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/render"
)

const planLong = `Show what applying manifests would change, and what policy would say.

Every object is sent to the API server as a dry run, so defaults, admission and conflicts are
those of the real cluster. Nothing is changed and nothing is recorded. It needs no install; where
there is one, its policy is asked.

A plan is what its applier would do: kubectl apply in either way, Flux, Argo CD, or changeward
itself. Without --applier each object is planned as by whoever applied it last, and a note says so.
--owner names the Kustomization or Application: only that tells options, ignored fields and deletes.

The exit code is 0 when every object could be planned, whatever the plan holds; with --exit-code
it is that of the gate: 0 allowed, 2 approval required, 4 denied.`

const planExample = `  # a directory of rendered manifests
  kubectl changeward plan -f apps/shop

  # what helm would apply
  helm template shop charts/shop | kubectl changeward plan -f - -n shop

  # what Flux would do, deletes included
  kubectl changeward plan -f rendered/ --owner kustomization/flux-system/apps

  # what kubectl apply --server-side would do, hand edits and all
  kubectl changeward plan -f apps/shop --applier kubectl-server

  # a kustomization, for a pull-request comment
  kubectl changeward plan -k overlays/prod -o markdown`

type planOptions struct {
	streams       cli.Streams
	cluster       *cli.ClusterFlags
	input         cli.InputFlags
	output        cli.OutputFlag
	out           string
	showUnchanged bool
	exitCode      bool
}

func newPlan(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &planOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "plan", Short: "show what would change; records nothing", Long: planLong, Example: planExample,
		Args: cli.Args(0, 0, "no arguments: name manifests with -f"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(o.output.Validate(), o.input.Validate(false)); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.input.AddFlags(cmd)
	o.cluster.AddFlags(cmd, streams)
	o.output.AddFlag(cmd, cli.FormatMarkdown)
	cli.AddOutFlag(cmd, &o.out)
	cmd.Flags().BoolVar(&o.showUnchanged, "show-unchanged", false, "list objects that would not change, too")
	cmd.Flags().BoolVar(&o.input.Twice, "twice", false, "repeat the dry run of what changes, as the gate does, so that random values show")
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit as the gate would: 2 approval required, 4 denied")
	return cmd
}

func (o *planOptions) run(ctx context.Context) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.TakesRecords)
	if err != nil {
		return err
	}
	planned, err := session.Plan(ctx, o.input)
	if err != nil {
		return err
	}
	judgement, err := session.Judge(ctx, planned.Plan, session.Header(planned))
	if err != nil {
		return err
	}
	view := session.View(planned.Plan, judgement, o.showUnchanged)
	if err := o.print(view, judgement); err != nil {
		return err
	}
	return o.answer(view, judgement)
}

func (o *planOptions) print(view render.PlanView, judgement *policy.Judgement) error {
	text := func(style render.Style) string {
		out := style.Plan(view)
		if judgement != nil {
			out += style.Policy(*judgement)
		}
		return out
	}
	markdown := func() string {
		comment := render.Comment{View: view}
		if judgement != nil {
			comment.Verdict = render.Style{}.Policy(*judgement)
		}
		return o.streams.Style().Markdown(comment)
	}
	document := func() any { return render.PlanResultDocument(view, judgement) }
	if o.out != "" {
		if err := cli.WriteOut(o.out, markdown(), text(render.Style{Program: o.streams.Program}), document()); err != nil {
			return err
		}
	}
	return o.streams.Print(o.output, cli.Result{Text: func() string { return text(o.streams.Style()) }, JSON: document, Markdown: markdown})
}

// answer is the exit code.
func (o *planOptions) answer(view render.PlanView, judgement *policy.Judgement) error {
	if !view.Plan.Complete() {
		return cli.Incomplete(view.Plan)
	}
	if !o.exitCode || judgement == nil || !judgement.Enforced {
		return nil
	}
	return cli.VerdictFailure(gate.Verdict{Decision: judgement.Verdict, Reasons: judgement.Reasons}, o.streams.Program,
		fmt.Sprintf("put it forward with `%s gate`", o.streams.Program))
}
