package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/pkg/trust"
)

const rosterLong = `The roster is a list of whose keys count, signed by an admin, for clusters whose policy says
enrollment: roster. There a key that a person has enrolled, and that is not on the list, decides nothing.`

func newSignerRoster(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	group := cli.Group("roster", "the list of keys that count", newRosterShow(streams, cluster), newRosterSet(streams, cluster))
	group.Long = rosterLong
	return group
}

const rosterShowLong = `Show the roster in force, as a file that signer roster set takes. Where there is none yet, it is a draft
of the keys that are enrolled.`

func newRosterShow(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	var output cli.OutputFlag
	cmd := showVerb(cobra.Command{
		Use: "show", Short: "show the roster", Long: rosterShowLong, Example: "  kubectl changeward signer roster show > roster.yaml",
	}, streams, cluster, &output, func(session *cli.Session) error {
		text, version, roster, err := rosterInForce(session)
		if err != nil {
			return err
		}
		if version == 0 {
			streams.Note("note: there is no roster yet; this is a draft of the keys that are enrolled")
		}
		return streams.Print(output, cli.Result{
			Text: func() string { return render.EscapeBlock(text) },
			JSON: func() any { return render.RosterDocument(version, roster) },
		})
	})
	output.AddFlag(cmd)
	return cmd
}

// rosterInForce is the roster and its version, or a draft and 0.
func rosterInForce(session *cli.Session) (text string, version int, roster trust.Roster, err error) {
	newest, version := session.Ledger.Roster()
	roster = trust.Roster{Expires: newest.Expires, Keys: newest.Keys}
	if version == 0 {
		roster = trust.Draft(session.Ledger.Ring())
	}
	content, err := roster.Format()
	return string(content), version, roster, err
}

const rosterSetLong = `Check a roster, show what it changes, sign it and store it as the next version. Keys that leave it count
for nothing from then on.`

type rosterSetOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	output  cli.OutputFlag
	keys    cli.KeyFlags
	file    string
}

func newRosterSet(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &rosterSetOptions{streams: streams, cluster: cluster}
	cmd := fileVerb(cobra.Command{
		Use: "set FILE", Short: "set the next version of the roster", Long: rosterSetLong,
		Example: "  kubectl changeward signer roster show > roster.yaml\n  kubectl changeward signer roster set roster.yaml",
	}, "one file", "the same as FILE; - is standard input", &o.file, &o.output, o.run)
	cluster.AddFlags(cmd, streams)
	o.keys.AddFlags(cmd)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *rosterSetOptions) run(ctx context.Context) error {
	source, err := readInput(o.streams, o.file)
	if err != nil {
		return cli.Fail(cli.ReasonBadInput, err)
	}
	next, err := trust.ParseRoster(source)
	if err != nil {
		return cli.Fail(cli.ReasonBadInput, fmt.Errorf("%s: %w", o.file, err))
	}
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsRecords)
	if err != nil {
		return err
	}
	if err := o.ask(session, next); err != nil {
		return err
	}
	signer, first, err := session.OwnKey(ctx, o.keys)
	if err != nil {
		return err
	}
	version, err := session.Gate.SetRoster(ctx, session.Ledger, next, signer, first)
	if err != nil {
		return err
	}
	if first {
		session.NoteEnrolled(signer)
	}
	return o.streams.Print(o.output, cli.Result{
		Text: func() string { return fmt.Sprintf("roster version %d is in force\n", version) },
		JSON: func() any { return render.RosterDocument(version, next) },
	})
}

// ask shows what a roster changes, and asks.
func (o *rosterSetOptions) ask(session *cli.Session, next trust.Roster) error {
	after, err := next.Format()
	if err != nil {
		return err
	}
	before, version, _, err := rosterInForce(session)
	if err != nil {
		return err
	}
	if version == 0 {
		before = ""
	}
	if err := o.streams.StoryWhole(o.streams.ErrStyle().Diff(before, string(after))); err != nil {
		return err
	}
	return session.Asker().Confirm("set this roster?", o.keys.Yes)
}
