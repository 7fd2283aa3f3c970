package main

import (
	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/render"
)

// newTargets lists what connect stored.
func newTargets(streams cli.Streams) *cobra.Command {
	var output cli.OutputFlag
	list := func(*cobra.Command, []string) error {
		if err := output.Validate(); err != nil {
			return err
		}
		targets, err := cli.LoadTargets(streams.Env)
		if err != nil {
			return err
		}
		return streams.Print(output, cli.Result{
			Text: func() string { return targetTable(targets.List()) },
			JSON: func() any {
				return render.TargetList{Type: render.Head(render.KindTargetList), Items: append([]render.Target{}, targets.List()...)}
			},
			Names: targets.Names,
		})
	}
	cmd := &cobra.Command{
		Use: "targets", Short: "list the stored targets", Args: cli.Args(0, 0, "no arguments"),
		Long:              "List the targets that `connect` has stored on this machine. It asks no cluster.",
		Example:           "  kubectl changeward targets\n  kubectl changeward targets -o json",
		ValidArgsFunction: cli.CompleteNothing,
		RunE:              list,
	}
	output.AddFlag(cmd, cli.FormatName)
	return cmd
}

func targetTable(targets []render.Target) string {
	if len(targets) == 0 {
		return "no targets are stored: `kubectl changeward connect NAME --context CONTEXT` stores one\n"
	}
	var rows [][]string
	for _, t := range targets {
		rows = append(rows, []string{t.Name, t.Context, t.Namespace, t.Env, t.Kubeconfig})
	}
	return render.Table([]string{"NAME", "CONTEXT", "NAMESPACE", "ENV", "KUBECONFIG"}, rows)
}
