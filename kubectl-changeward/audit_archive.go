package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

const auditArchiveLong = `Move what is settled and old out of the cluster: all records are written into a bundle, a checkpoint
in the chain says which entries it holds, and then they are deleted. Numbers go on from there.

What waits for approval, or is approved and not used up, stays, as does of each scope the newest plan
that was allowed. Keys, policies, rosters and epochs always stay, and are in each bundle, too.

It can be stopped anywhere: run it again with the same --out, and it goes on. Keep the bundle: after
the checkpoint is written, it is all that is left. You need to be an admin with a key of your own.`

const auditArchiveExample = `  kubectl changeward audit archive --older-than 90d --out audit-2026-q1.bundle
  kubectl changeward audit verify --bundle audit-2026-q1.bundle`

// partial ends the name of a bundle that no checkpoint names yet.
const partial = ".partial"

type archiveOptions struct {
	exportOptions
	keys      cli.KeyFlags
	olderThan string
	resumed   bool
}

func newAuditArchive(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &archiveOptions{exportOptions: exportOptions{auditOptions: auditOptions{streams: streams, cluster: cluster}}}
	cmd := o.verb(cobra.Command{Use: "archive", Short: "move old records into a bundle", Long: auditArchiveLong, Example: auditArchiveExample}, o.archive)
	cmd.Flags().StringVar(&o.out, "out", "", "the bundle to write")
	cmd.Flags().StringVar(&o.olderThan, "older-than", "90d", "archive what was settled before: an age such as 90d or 36h")
	cluster.AddFlags(cmd, streams)
	o.keys.AddFlags(cmd)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *archiveOptions) archive(ctx context.Context) error {
	age, err := cli.Age(o.olderThan)
	switch {
	case err != nil:
		return cli.Usage("--older-than " + err.Error())
	case o.out == "":
		return cli.Usage("which file? name it with --out")
	}
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsRecords)
	if err != nil {
		return err
	}
	before := session.Ledger.Now().Add(-age)
	if done, err := o.goOn(ctx, session, before); done || err != nil {
		return err
	}
	if err := absent(o.out); err != nil {
		return err
	}
	archive, err := session.Gate.PrepareArchive(ctx, before)
	if err != nil {
		return err
	}
	if len(archive.Entries) == 0 {
		return o.print(render.AuditArchive{Before: state.FormatTime(before)})
	}
	return o.commit(ctx, session, archive, before)
}

// commit writes the bundle, then the checkpoint that names it, then deletes.
func (o *archiveOptions) commit(ctx context.Context, session *cli.Session, archive *gate.Archive, before time.Time) error {
	question := fmt.Sprintf("archive %d entries from before %s, with all about them, and delete them here?", len(archive.Entries), render.Time(before))
	if err := session.Asker().Confirm(question, o.keys.Yes); err != nil {
		return err
	}
	signer, first, err := session.OwnKey(ctx, o.keys)
	switch {
	case err != nil:
		return err
	case first:
		return cli.Fail(cli.ReasonNoKey, errors.New("you have enrolled no key yet, and a checkpoint counts only from a known one"),
			"enroll yours with `"+o.streams.Program+" signer enroll`")
	}
	digest, err := cli.WriteBundle(o.out+partial, archive.Bundle)
	if err != nil {
		return err
	}
	entry, err := archive.Commit(ctx, digest, signer)
	if err != nil { // the bundle stays: the checkpoint may be there, and its answer lost
		return err
	}
	if err := os.Rename(o.out+partial, o.out); err != nil {
		return fmt.Errorf("the bundle is %s: %w", o.out+partial, err)
	}
	return o.finish(ctx, archive, entry, digest, before)
}

// goOn takes up an archive to this file that was stopped once its checkpoint
// was written.
func (o *archiveOptions) goOn(ctx context.Context, session *cli.Session, before time.Time) (done bool, err error) {
	for _, file := range []string{o.out, o.out + partial} {
		if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		bundle, digest, err := cli.ReadBundle(file)
		if err != nil {
			return false, err
		}
		archive, entry, err := session.Gate.Committed(ctx, *bundle, digest)
		if err != nil || archive == nil {
			return false, err
		}
		if file != o.out {
			if err := os.Rename(file, o.out); err != nil {
				return false, fmt.Errorf("the bundle is %s: %w", file, err)
			}
		}
		o.resumed = true
		return true, o.finish(ctx, archive, entry, digest, before)
	}
	return false, nil
}

func (o *archiveOptions) finish(ctx context.Context, archive *gate.Archive, entry state.Audit, digest string, before time.Time) error {
	deleted, err := archive.Delete(ctx, *entry.Archive)
	if err != nil {
		return cli.Fail(cli.Explain(err, o.streams.Program).Reason, fmt.Errorf("the checkpoint is written, and %d records are deleted, but not all: %w", deleted, err),
			"run the same command again: it goes on")
	}
	return o.print(render.AuditArchive{File: o.out, Digest: digest, Checkpoint: state.NumberedName(state.TypeAudit, entry.Number),
		Before: state.FormatTime(before), Entries: len(archive.Entries), Deleted: deleted, Resumed: o.resumed})
}

func (o *archiveOptions) print(document render.AuditArchive) error {
	document.Type = render.Head(render.KindAuditArchive)
	return o.streams.Print(o.output, cli.Result{Text: document.Text, JSON: func() any { return document }})
}
