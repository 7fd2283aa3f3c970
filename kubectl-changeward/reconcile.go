package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/reconcile"
	"github.com/changeward/changeward/pkg/render"
)

const reconcileLong = `Bring a directory of manifests in line with changes that were applied directly.

For each field that a direct change set, and that the cluster still has so, it finds what in the
directory sets it: a plain manifest; of a kustomization its own images, replicas, patches,
generators and manifests; else a new patch in it, never a base. It edits that in place: only the
lines that must change differ, and comments, order, quotes and indentation stay. Then it renders
again: an edit is kept only if the field has its value and nothing else has moved.

The edits become a commit on branch changeward/CHANGE, which starts at HEAD, with the change, the
approvers and the reason as trailers. Your own files and branch stay as they are. With --pr the
branch is pushed, and a pull request is opened, with the plan in its text; a second run updates
both. Tokens come from GITHUB_TOKEN, GITLAB_TOKEN or GITEA_TOKEN. With --no-commit the files
themselves are edited instead, and no Git is needed.

Without --change it takes all changes of the scope, which is the path of the directory in its
repository, that no outcome says Git has. Objects that were created or deleted directly get or
lose their manifests, too.

What cannot be edited so is refused with the reason, and the exit code is 1; the rest is written.
Values of Secrets are never written.`

const reconcileExample = `  # what would be edited
  kubectl changeward reconcile --k8s-dir apps/shop --dry-run

  # a commit on a branch of its own, or a pull request of it
  kubectl changeward reconcile --k8s-dir overlays/prod --change c_9dd33d8939b8
  kubectl changeward reconcile --k8s-dir overlays/prod --change c_9dd33d8939b8 --pr

  # edit the files, then look at them with git diff
  kubectl changeward reconcile --k8s-dir apps/shop --no-commit`

type reconcileOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	output  cli.OutputFlag
	how     cli.Reconcile
}

func newReconcile(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &reconcileOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "reconcile --k8s-dir DIR", Short: "bring manifests in line with direct changes", Long: reconcileLong, Example: reconcileExample,
		Args: cli.Args(0, 0, "no arguments: name the directory with --k8s-dir"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.how.Dir, "k8s-dir", "", "directory of the manifests or the kustomization that is applied to this cluster")
	flags.StringVar(&o.how.Change, "change", "", "only this change request (default: all of the scope)")
	flags.StringVar(&o.how.Scope, "scope", "", "scope of the changes (default: the path of the directory in its repository)")
	flags.BoolVar(&o.how.DryRun, "dry-run", false, "say what would be edited, and write nothing")
	flags.BoolVar(&o.how.NoCommit, "no-commit", false, "edit the files of the directory themselves, and make no commit")
	flags.BoolVar(&o.how.Pull, "pr", false, "push the branch, and open a pull request or update it")
	flags.StringVar(&o.how.Forge, "forge", "", "what the remote is: github, gitlab or gitea (default: as its host says)")
	cli.CompleteFlag(cmd, "forge", "github", "gitlab", "gitea")
	cli.CompleteFolder(cmd, "k8s-dir")
	cli.CompleteFlagBy(cmd, "change", cli.CompleteRequests(streams, cluster, []gate.Status{gate.Applied, gate.Diverged}))
	o.cluster.AddFlags(cmd, streams)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *reconcileOptions) validate() error {
	switch {
	case o.how.Dir == "":
		return cli.Usage("which manifests? name their directory with --k8s-dir")
	case o.how.Change != "" && o.how.Scope != "":
		return cli.Usage("choose one of --change and --scope")
	case o.how.NoCommit && o.how.Pull:
		return cli.Usage("choose one of --no-commit and --pr: a pull request is made of a commit")
	case o.how.Forge != "" && !o.how.Pull:
		return cli.Usage("--forge says what --pr opens a pull request on: say --pr, too")
	}
	return o.output.Validate()
}

func (o *reconcileOptions) run(ctx context.Context) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsRecords)
	if err != nil {
		return err
	}
	reconciled, err := session.Reconcile(ctx, o.how)
	if err != nil {
		return err
	}
	if err := o.streams.Print(o.output, cli.Result{Text: func() string { return o.streams.Style().Reconciled(reconciled) },
		JSON: func() any { return render.ReconcileDocument(reconciled) }}); err != nil {
		return err
	}
	return notReconciled(reconciled.Result)
}

// notReconciled is the exit where something was refused.
func notReconciled(result *reconcile.Result) error {
	if len(result.Refused) == 0 {
		return nil
	}
	failure := cli.Fail(cli.ReasonNotReconciled, result.Failure())
	failure.Reported = true
	for _, refusal := range result.Refused {
		failure.Hints = append(failure.Hints, refusal.Hint)
	}
	return failure
}
