package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/state"
)

func newAudit(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	return cli.Group("audit", "prove what was approved, and archive it", newAuditLog(streams, cluster), newAuditVerify(streams, cluster),
		newAuditReport(streams, cluster), newAuditExport(streams, cluster), newAuditArchive(streams, cluster))
}

// auditOptions are what the verbs that read an audit share.
type auditOptions struct {
	streams  cli.Streams
	cluster  *cli.ClusterFlags
	output   cli.OutputFlag
	bundle   string
	since    string
	scope    string
	expected audit.Expected
}

func (o *auditOptions) addFlags(cmd *cobra.Command, formats ...string) {
	cmd.Flags().StringVar(&o.bundle, "bundle", "", "read this bundle instead of a cluster (see audit export)")
	o.cluster.AddFlags(cmd, o.streams)
	o.output.AddFlag(cmd, formats...)
}

func (o *auditOptions) addFilter(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.since, "since", "", "only what is younger: an age such as 90d or 36h, or a day such as 2026-11-30")
	cmd.Flags().StringVar(&o.scope, "scope", "", "only this scope")
}

func (o *auditOptions) addExpected(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.expected.Head, "expect-head", "", "a chain head that you know, as a gate printed it: shows entries cut off the end")
	cmd.Flags().StringVar(&o.expected.Trust, "trust", "", "digest of the first policy, as you know it from before: shows records that were made up as a whole")
}

func (o *auditOptions) validate() error {
	_, err := cli.Since(o.since, time.Time{})
	if err != nil {
		err = cli.Usage("--since " + err.Error())
	}
	problems := []error{o.output.Validate(), err}
	for flag, digest := range map[string]string{"--expect-head": o.expected.Head, "--trust": o.expected.Trust} {
		if digest != "" && !state.IsDigest(digest) {
			problems = append(problems, cli.Usage(flag+" "+digest+": want sha256: and 64 hex digits"))
		}
	}
	return errors.Join(problems...)
}

// read opens the records and judges them.
func (o *auditOptions) read(ctx context.Context) (*cli.Records, audit.Facts, audit.Filter, error) {
	records, err := cli.OpenRecords(ctx, o.cluster, o.streams, o.bundle)
	if err != nil {
		return nil, audit.Facts{}, audit.Filter{}, err
	}
	facts, err := records.Examine(ctx)
	if err != nil {
		return nil, facts, audit.Filter{}, err
	}
	since, err := cli.Since(o.since, facts.Now)
	return records, facts, audit.Filter{Since: since, Scope: o.scope}, err
}

// auditVerb is a verb without arguments that reads an audit.
func (o *auditOptions) verb(cmd cobra.Command, run func(context.Context) error) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = cli.Args(0, 0, "no arguments"), cli.CompleteNothing
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.validate(); err != nil {
			return err
		}
		return run(cmd.Context())
	}
	return &cmd
}
