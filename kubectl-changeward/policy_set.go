package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/render"
)

const policySetLong = `Check a policy, show what it changes, sign it and store it as the next version.

The role bindings of proposers, approvers, auditors and admins are kept in step with the people
that the policy names; --no-bindings leaves them to Git.

With --state dir:PATH and a folder that is not there yet, records begin in it, in files: your key, and
this policy as the first. There signatures are all there is, so the policy must say so
(approvals.identity: signed) and name approvers as users.`

const policySetExample = `  kubectl changeward policy show > policy.yaml
  kubectl changeward policy test policy-tests.yaml --policy policy.yaml
  kubectl changeward policy set policy.yaml

  # a trial without an install, or records kept out of the cluster
  kubectl changeward policy set policy.yaml --state dir:records
  kubectl changeward gate -f apps/shop --state dir:records`

type policySetOptions struct {
	streams    cli.Streams
	cluster    *cli.ClusterFlags
	output     cli.OutputFlag
	keys       cli.KeyFlags
	file       string
	noBindings bool
}

func newPolicySet(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &policySetOptions{streams: streams, cluster: cluster}
	cmd := fileVerb(cobra.Command{
		Use: "set FILE", Short: "set the next version of the policy", Long: policySetLong, Example: policySetExample,
	}, "one file", "the same as FILE; - is standard input", &o.file, &o.output, o.run)
	cmd.Flags().BoolVar(&o.noBindings, "no-bindings", false, "leave role bindings as they are")
	cluster.AddFlags(cmd, streams)
	o.keys.AddFlags(cmd)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *policySetOptions) run(ctx context.Context) error {
	source, next, err := readPolicy(o.streams, o.file)
	if err != nil {
		return err
	}
	if o.cluster.InFiles() {
		o.noBindings = true
		if err := cli.FitsFiles(next); err != nil {
			return err
		}
	}
	if path, err := cli.NewFolder(ctx, o.cluster); path != "" || err != nil {
		if err != nil {
			return err
		}
		return o.start(ctx, path, string(source), next)
	}
	return o.replace(ctx, source, next)
}

// replace sets the next version of a policy that is there.
func (o *policySetOptions) replace(ctx context.Context, source []byte, next *policy.Policy) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsRecords)
	if err != nil {
		return err
	}
	before, err := session.Ledger.PolicySource(0)
	if err != nil {
		return err
	}
	_, version := session.Ledger.Policy()
	changes, err := o.bindings(ctx, session, next, true)
	if err != nil {
		return err
	}
	if before == string(source) && session.Ledger.Unvouched() == nil {
		return o.finish(ctx, session, next, version, "is in force already")
	}
	if err := o.ask(session, before, string(source), changes, next.Warnings()); err != nil {
		return err
	}
	signer, first, err := session.OwnKey(ctx, o.keys)
	if err != nil {
		return err
	}
	if version, err = session.Gate.SetPolicy(ctx, session.Ledger, string(source), signer, first); err != nil {
		return err
	}
	if first {
		session.NoteEnrolled(signer)
	}
	return o.finish(ctx, session, next, version, "is in force")
}

// start begins records in a folder with this policy.
func (o *policySetOptions) start(ctx context.Context, path, source string, first *policy.Policy) error {
	at := *o.cluster
	at.State = ""
	session, err := cli.Connect(ctx, &at, o.streams, cli.NeedsCluster)
	if err != nil {
		return err
	}
	if err := o.ask(session, "", source, nil, first.Warnings()); err != nil {
		return err
	}
	signer, err := session.Finder(o.keys).Find(ctx, o.keys.Key)
	if err != nil {
		return err
	}
	if err := session.StartFolder(ctx, path, source, signer); err != nil {
		return err
	}
	session.NoteEnrolled(signer)
	return o.finish(ctx, session, first, 1, "is in force, the first of records in "+path)
}

// finish keeps the bindings in step and answers. state is the version's, in words.
func (o *policySetOptions) finish(ctx context.Context, session *cli.Session, next *policy.Policy, version int, state string) error {
	changes, err := o.bindings(ctx, session, next, false)
	if err != nil {
		return cli.Fail(cli.ReasonFailed, fmt.Errorf("policy version %d is set, but its role bindings are not: %w", version, err),
			"set the same policy again to repeat only that")
	}
	return o.streams.Print(o.output, cli.Result{
		Text: func() string { return fmt.Sprintf("policy version %d %s\n", version, render.Escape(state)) },
		JSON: func() any {
			return render.PolicySet{Type: render.Head(render.KindPolicySet), Version: version, Bindings: append([]string{}, changes...), Warnings: append([]string{}, next.Warnings()...)}
		},
	})
}

func (o *policySetOptions) ask(session *cli.Session, before, after string, bindings, warnings []string) error {
	style := o.streams.ErrStyle()
	if err := o.streams.StoryWhole(style.Diff(before, after)); err != nil {
		return err
	}
	for _, change := range bindings {
		o.streams.Note("role binding: " + change)
	}
	for _, warning := range warnings {
		o.streams.Note("warning: " + warning)
	}
	return session.Asker().Confirm("set this policy?", o.keys.Yes)
}

// bindings keeps role bindings in step; with dryRun it only says what would be
// done.
func (o *policySetOptions) bindings(ctx context.Context, session *cli.Session, next *policy.Policy, dryRun bool) ([]string, error) {
	if o.noBindings {
		return nil, nil
	}
	return install.SyncBindings(ctx, session.Install, next.Roles(), session.Ledger.Epoch(), dryRun)
}

// readPolicy reads and checks a policy file. All that is wrong with it is
// named at once.
func readPolicy(streams cli.Streams, file string) ([]byte, *policy.Policy, error) {
	source, err := readInput(streams, file)
	if err != nil {
		return nil, nil, cli.Fail(cli.ReasonBadInput, err)
	}
	parsed, err := policy.Parse(source)
	if err != nil {
		return nil, nil, inFile(file, err)
	}
	return source, parsed, nil
}

// inFile puts the file's name in front of each problem of a policy.
func inFile(file string, err error) error {
	var problems policy.Problems
	if !errors.As(err, &problems) {
		return cli.Fail(cli.ReasonBadInput, fmt.Errorf("%s: %w", file, err))
	}
	failure := cli.Fail(cli.ReasonBadInput, nil)
	var all []error
	for _, p := range problems {
		source := file
		if p.Line > 0 {
			source = fmt.Sprintf("%s:%d", file, p.Line)
		}
		all = append(all, fmt.Errorf("%s: %s", source, policy.Problem{Path: p.Path, Message: p.Message}))
		failure.Problems = append(failure.Problems, render.Problem{Kind: "Policy", Source: source, Path: p.Path, Reason: cli.ReasonBadInput, Message: p.Message})
	}
	failure.Err = errors.Join(all...)
	return failure
}

// readInput reads a file, or standard input for -.
func readInput(streams cli.Streams, file string) ([]byte, error) {
	if file == "-" {
		return cli.ReadAll(streams.In)
	}
	return os.ReadFile(file)
}
