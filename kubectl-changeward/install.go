package main

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/render"
)

const installLong = `Set changeward up in a cluster: namespaces, roles, admission policies, keys, and the first policy.

It shows what it will make, and asks. It can be stopped and run again: it makes only what is
missing. Nothing keeps running in the cluster.

For Git: --export prints every object but keys and records. Once those are applied, --finish makes
the keys and records, which must never be in Git.`

const installExample = `  kubectl changeward install --name prod-eu --env prod --approvers group:sre --proposers group:developers \
    --auditors group:audit

  # PreSync hooks of Argo CD in namespace shop are gates (--argocd=NAMESPACE where it is not in argocd)
  kubectl changeward install --scope shop --argocd

  # objects by GitOps, keys and records by hand
  kubectl changeward install --name prod-eu --env prod --approvers group:sre --export > changeward.yaml
  kubectl changeward install --name prod-eu --env prod --approvers group:sre --finish`

type installOptions struct {
	streams   cli.Streams
	cluster   *cli.ClusterFlags
	output    cli.OutputFlag
	keys      cli.KeyFlags
	options   install.Options
	approvers []string
	proposers []string
	auditors  []string
	admins    []string
	export    bool
}

func newInstall(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &installOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "install", Short: "set changeward up in a cluster", Long: installLong, Example: installExample,
		Args: cli.Args(0, 0, "no arguments"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.options.Name, "name", "", "name of the cluster, for its policy and for --target")
	flags.StringVar(&o.options.Env, "env", "", "environment, such as prod")
	flags.StringSliceVar(&o.approvers, "approvers", nil, "who approves, such as group:sre,user:alice")
	flags.StringSliceVar(&o.proposers, "proposers", nil, "who may put plans forward, beside gates")
	flags.StringSliceVar(&o.auditors, "auditors", nil, "who may read all records, beside those")
	flags.StringSliceVar(&o.admins, "admins", nil, "who sets policy (default: you)")
	flags.StringSliceVar(&o.options.GateUsers, "gate-user", nil, "further gate identities, by user name")
	flags.StringSliceVar(&o.options.GateGroups, "gate-group", nil, "further gate identities, by group")
	flags.StringSliceVar(&o.options.Scope, "scope", nil, "namespaces that gates may plan (default: the whole cluster)")
	flags.StringVar(&o.options.ArgoCD, "argocd", "", "with --scope: let hook Jobs of the Argo CD in this namespace be gates in each of those namespaces")
	flags.Lookup("argocd").NoOptDefVal = "argocd"
	flags.BoolVar(&o.options.NoSecrets, "no-secrets", false, "gates may not plan Secrets, and so not read them")
	flags.BoolVar(&o.export, "export", false, "print the objects instead of making them")
	flags.BoolVar(&o.options.Finish, "finish", false, "make keys and records only, for objects that --export printed")
	o.keys.AddFlags(cmd)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *installOptions) validate() error {
	var problems []error
	read := func(flag string, values []string) policy.Subjects {
		who, err := cli.ParseSubjects(flag, values)
		problems = append(problems, err)
		return who
	}
	o.options.People = policy.Roles{Approvers: read("approvers", o.approvers), Proposers: read("proposers", o.proposers),
		Auditors: read("auditors", o.auditors), Admins: read("admins", o.admins)}
	if o.export && o.options.Finish {
		problems = append(problems, cli.Usage("choose one of --export and --finish"))
	}
	if o.export && o.output.Format != cli.FormatText {
		problems = append(problems, cli.Usage("--export prints YAML: leave -o out"))
	}
	return errors.Join(append(problems, o.output.Validate())...)
}

func (o *installOptions) run(ctx context.Context) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsCluster)
	if err != nil {
		return err
	}
	o.options.Caller, o.options.Credential, o.options.Rand = session.Gate.Caller, session.Gate.Credential, rand.Reader
	if o.export {
		return install.Export(ctx, session.Install, o.options, o.streams.Out)
	}
	prepared, err := install.Prepare(ctx, session.Install, o.options)
	if err != nil {
		return err
	}
	if prepared.Installed() {
		return o.print(nil)
	}
	if prepared.NeedsSigner() {
		if o.options.Signer, err = session.Finder(o.keys).Find(ctx, o.keys.Key); err != nil {
			return err
		}
		if prepared, err = install.Prepare(ctx, session.Install, o.options); err != nil {
			return err
		}
	}
	o.streams.Story(o.streams.ErrStyle().Steps(prepared.Steps()))
	if err := session.Asker().Confirm("install changeward in this cluster ("+session.Config.Host+")?", o.keys.Yes); err != nil {
		return err
	}
	var done []install.Step
	if err := prepared.Apply(ctx, func(step install.Step) { done = append(done, step) }); err != nil {
		return cli.Fail(cli.ReasonFailed, err, "what was made stays; run install again to make the rest")
	}
	return o.print(done)
}

func (o *installOptions) print(done []install.Step) error {
	return o.streams.Print(o.output, cli.Result{
		Text: func() string {
			if len(done) == 0 {
				return "changeward is installed already: nothing to do\n"
			}
			return "installed. `kubectl changeward doctor` checks it, `kubectl changeward token create` makes a gate its identity\n"
		},
		JSON: func() any {
			return render.StepsResult{Type: render.Head(render.KindInstallResult), Steps: append([]install.Step{}, done...)}
		},
	})
}
