package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/render"
)

const tokenCreateLong = `Make a service account for a robot, and print a kubeconfig with a token of it.

A robot of role propose is a gate: admission lets it send dry runs and write plans, and nothing
else. A robot of role approve counts as a person: it can approve, and cannot plan.

The kubeconfig is a credential: keep it out of logs and Git. --out writes it to a file that only
you can read.`

const tokenCreateExample = `  kubectl changeward token create ci --role propose --out ci.kubeconfig
  kubectl changeward token create chatops --role approve --duration 24h --out chatops.kubeconfig`

type tokenOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	output  cli.OutputFlag
	token   install.TokenOptions
	file    string
}

func newToken(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	return cli.Group("token", "identities for robots", newTokenCreate(streams, cluster))
}

func newTokenCreate(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &tokenOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "create NAME", Short: "make a service account and a kubeconfig", Long: tokenCreateLong, Example: tokenCreateExample,
		Args: cli.Args(1, 1, "one name"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.token.Name = args[0]
			if err := o.validate(); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.token.Role, "role", "", "propose (a gate) or approve")
	flags.DurationVar(&o.token.Duration, "duration", 90*24*time.Hour, "life of the token; the server may give less")
	flags.StringSliceVar(&o.token.Scope, "scope", nil, "namespaces that a gate may plan (default: the whole cluster)")
	flags.StringVar(&o.file, "out", "", "write the kubeconfig to this file instead of stdout")
	cli.CompleteFlag(cmd, "role", install.TokenPropose, install.TokenApprove)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *tokenOptions) validate() error {
	if o.token.Role != install.TokenPropose && o.token.Role != install.TokenApprove {
		return cli.Usage("which role? --role is propose (a gate) or approve")
	}
	if o.token.Role == install.TokenApprove && len(o.token.Scope) > 0 {
		return cli.Usage("--scope is for gates")
	}
	return o.output.Validate()
}

func (o *tokenOptions) run(ctx context.Context) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsCluster)
	if err != nil {
		return err
	}
	token, err := install.CreateToken(ctx, session.Install, o.token)
	if apierrors.IsNotFound(err) {
		return cli.Fail(cli.ReasonNoInstall, err, "is changeward installed in this cluster? `kubectl changeward doctor` looks")
	}
	if err != nil {
		return err
	}
	if o.file != "" {
		if err := cli.WritePrivate(o.file, token.Kubeconfig); err != nil {
			return err
		}
	}
	o.streams.Note(fmt.Sprintf("%s: the token dies at %s", token.Account, render.Time(token.Expires)))
	return o.streams.Print(o.output, cli.Result{
		Text: func() string {
			if o.file != "" {
				return "kubeconfig written to " + render.Escape(o.file) + "\n"
			}
			return string(token.Kubeconfig)
		},
		JSON: func() any { return render.TokenDocument(token, o.file) },
	})
}
