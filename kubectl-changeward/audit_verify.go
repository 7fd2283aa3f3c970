package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/render"
)

const auditLogLong = `List the entries of the audit chain, the newest first: every verdict of a gate that differed from
the one before, and every checkpoint of an archive.`

const auditLogExample = `  kubectl changeward audit log --since 7d
  kubectl changeward audit log --scope apps/shop -o json
  kubectl changeward audit log --bundle audit.bundle`

func newAuditLog(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &auditOptions{streams: streams, cluster: cluster}
	cmd := o.verb(cobra.Command{Use: "log", Short: "list the verdicts of all gates", Long: auditLogLong, Example: auditLogExample}, o.log)
	o.addFilter(cmd)
	o.addFlags(cmd)
	return cmd
}

func (o *auditOptions) log(ctx context.Context) error {
	_, facts, filter, err := o.read(ctx)
	if err != nil {
		return err
	}
	entries := audit.Log(facts, filter)
	return o.streams.Print(o.output, cli.Result{
		Text: func() string {
			if len(entries) == 0 {
				return "no entries\n"
			}
			return render.AuditEntries(facts.ClusterUID, entries)
		},
		JSON: func() any { return render.AuditLogDocument(facts.ClusterUID, entries) },
	})
}

const auditVerifyLong = `Verify the audit: walk the chain of entries, check every signature as of its time, and check that
what was allowed was approved by those who were asked. Gaps, edits, reorderings, foreign objects,
and records signed with keys that nobody enrolled are named.

With --bundle or --state dir:PATH no cluster is asked: signatures are then all there is.

Exit codes: 0 all holds, 1 nothing could be verified, 3 a fault was found.`

const auditVerifyExample = `  kubectl changeward audit verify

  # with what you know from outside: the head that a gate printed, the first policy of the install
  kubectl changeward audit verify --expect-head sha256:0123… --trust sha256:4567…

  # years later, without the cluster
  kubectl changeward audit verify --bundle audit.bundle --trust sha256:4567…`

func newAuditVerify(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &auditOptions{streams: streams, cluster: cluster}
	cmd := o.verb(cobra.Command{Use: "verify", Short: "check the chain and every signature", Long: auditVerifyLong, Example: auditVerifyExample}, o.verify)
	o.addExpected(cmd)
	o.addFlags(cmd)
	return cmd
}

func (o *auditOptions) verify(ctx context.Context) error {
	records, facts, _, err := o.read(ctx)
	if err != nil {
		return err
	}
	v, limits := audit.Verify(facts, o.expected), records.Limits(o.expected)
	err = o.streams.Print(o.output, cli.Result{
		Text: func() string { return o.streams.Style().Verification(v, limits) },
		JSON: func() any { return render.AuditVerificationDocument(v, records.Offline(), limits) },
	})
	if err != nil || len(v.Findings) == 0 {
		return err
	}
	return &cli.Failure{Code: cli.ExitFindings, Reason: cli.ReasonFindings, Reported: true,
		Err: fmt.Errorf("the audit has faults: %d", len(v.Findings))}
}

const auditReportLong = `Report who approved what, when and why: first what was applied without an approval that holds, then
emergencies that nobody has reviewed, then what passed because policy was not enforced, then all
that passed through a gate. It ends with how complete it is.`

const auditReportExample = `  kubectl changeward audit report --since 90d
  kubectl changeward audit report --since 2026-01-01 -o markdown > report.md
  kubectl changeward audit report --bundle audit.bundle -o json`

func newAuditReport(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &auditOptions{streams: streams, cluster: cluster}
	cmd := o.verb(cobra.Command{Use: "report", Short: "say who approved what, and what went around", Long: auditReportLong, Example: auditReportExample}, o.report)
	o.addFilter(cmd)
	o.addFlags(cmd, cli.FormatMarkdown)
	return cmd
}

func (o *auditOptions) report(ctx context.Context) error {
	records, facts, filter, err := o.read(ctx)
	if err != nil {
		return err
	}
	report, limits := audit.NewReport(facts, filter), records.Limits(audit.Expected{})
	return o.streams.Print(o.output, cli.Result{
		Text:     func() string { return o.streams.Style().AuditReport(facts.ClusterName, report, limits) },
		JSON:     func() any { return render.AuditReportDocument(facts.ClusterName, report, records.Offline(), limits) },
		Markdown: func() string { return render.AuditReportMarkdown(facts.ClusterName, report, limits) },
	})
}
