package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/render"
)

const connectLong = `Store a target: a short name for a kubeconfig context, namespace and file, for --target.

A target is only a name on this machine. It is never part of a plan or of an approval.
The environment, where one is given, must be the one that the cluster's policy has.`

const connectExample = `  kubectl changeward connect prod --context prod-eu
  kubectl changeward connect prod --context prod-eu --namespace shop --env prod
  kubectl changeward connect prod --adapter kubernetes --env prod --option context=prod-eu --option namespace=shop`

type connectOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	output  cli.OutputFlag
	target  render.Target
	adapter string
	options []string
}

func newConnect(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &connectOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "connect NAME", Short: "store a target", Long: connectLong, Example: connectExample,
		Args: cli.Args(1, 1, "one name"), ValidArgsFunction: cli.CompleteTargets(streams),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.target.Name = args[0]
			if err := o.validate(); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.target.Env, "env", "", "environment that the cluster's policy must have")
	cmd.Flags().StringVar(&o.adapter, "adapter", "kubernetes", "kind of target: only kubernetes")
	cmd.Flags().StringArrayVar(&o.options, "option", nil, "context=, namespace=, kubeconfig= or rollout_timeout=, instead of flags")
	o.output.AddFlag(cmd)
	return cmd
}

func (o *connectOptions) validate() error {
	if err := o.output.Validate(); err != nil {
		return err
	}
	if o.adapter != "kubernetes" {
		return cli.Usage(fmt.Sprintf("no adapter %q: changeward knows kubernetes", o.adapter))
	}
	kube := o.cluster.Kube
	for _, option := range o.options {
		key, value, _ := strings.Cut(option, "=")
		if value == "" {
			return cli.Usage(fmt.Sprintf("--option %s: want key=value", option))
		}
		switch key {
		case "context":
			*kube.Context = value
		case "namespace":
			*kube.Namespace = value
		case "kubeconfig":
			*kube.KubeConfig = value
		case "rollout_timeout":
			o.target.RolloutTimeout = value
		case "kubectl": // accepted from other tools; nothing here runs kubectl
		default:
			return cli.Usage(fmt.Sprintf("--option %s: no such option: choose one of context, namespace, kubeconfig, rollout_timeout", key))
		}
	}
	if timeout := o.target.RolloutTimeout; timeout != "" {
		if d, err := time.ParseDuration(timeout); err != nil || d <= 0 {
			return cli.Usage(fmt.Sprintf("rollout_timeout %q: want a duration such as 5m", timeout))
		}
	}
	return nil
}

func (o *connectOptions) run(ctx context.Context) error {
	target, err := o.cluster.PinTarget(o.target)
	if err != nil {
		return err
	}
	targets, err := cli.LoadTargets(o.streams.Env)
	if err != nil {
		return err
	}
	if err := cli.CheckTarget(ctx, o.cluster, o.streams, target); err != nil {
		return err
	}
	replaced, err := targets.Put(target)
	if err != nil {
		return err
	}
	return o.streams.Print(o.output, cli.Result{
		Text: func() string {
			verb := "stored"
			if replaced {
				verb = "replaced"
			}
			return fmt.Sprintf("target %s %s: context %s\n", render.Escape(target.Name), verb, render.Escape(target.Context))
		},
		JSON: func() any {
			return render.TargetResult{Type: render.Head(render.KindTarget), Target: target, Replaced: replaced}
		},
	})
}
