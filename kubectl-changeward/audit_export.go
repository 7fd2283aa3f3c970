package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/render"
)

const auditExportLong = `Write all records into one file, a bundle: plans, decisions, outcomes and the chain, with what they
are verified against, that is policies, epochs and keys. audit verify, log and report read it with
--bundle, years later and without the cluster.

A file that is there already is never overwritten. Secret values are in no record, and so not in it.`

const auditExportExample = `  kubectl changeward audit export --out audit-2026.bundle
  kubectl changeward audit verify --bundle audit-2026.bundle`

type exportOptions struct {
	auditOptions
	out string
}

func newAuditExport(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &exportOptions{auditOptions: auditOptions{streams: streams, cluster: cluster}}
	cmd := o.verb(cobra.Command{Use: "export", Short: "write all records into one file", Long: auditExportLong, Example: auditExportExample}, o.export)
	cmd.Flags().StringVar(&o.out, "out", "", "the file to write")
	cluster.AddFlags(cmd, streams)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *exportOptions) export(ctx context.Context) error {
	if o.out == "" {
		return cli.Usage("which file? name it with --out")
	}
	if err := absent(o.out); err != nil {
		return err
	}
	records, err := cli.OpenRecords(ctx, o.cluster, o.streams, "")
	if err != nil {
		return err
	}
	bundle, err := records.Gate.Export(ctx)
	if err != nil {
		return err
	}
	kept := gate.Gate{Store: bundle.Store(), ClusterUID: records.Gate.ClusterUID}
	facts, err := kept.Examine(ctx)
	if err != nil {
		return err
	}
	digest, err := cli.WriteBundle(o.out, bundle)
	if err != nil {
		return err
	}
	v := audit.Verify(facts, audit.Expected{})
	document := render.AuditExport{Type: render.Head(render.KindAuditExport), File: o.out, Digest: digest,
		Records: len(bundle.Records), Head: v.Head, FirstPolicy: v.FirstPolicy}
	return o.streams.Print(o.output, cli.Result{Text: document.Text, JSON: func() any { return document }})
}

// absent refuses a file that exists: a bundle may be all that is left of what
// it holds.
func absent(file string) error {
	switch _, err := os.Lstat(file); {
	case err == nil:
		return cli.Fail(cli.ReasonBadInput, fmt.Errorf("%s exists already, and a bundle is never overwritten", file), "name another file with --out")
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return cli.Fail(cli.ReasonFailed, fmt.Errorf("--out: %w", err))
	}
}
