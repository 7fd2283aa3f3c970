package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/render"
)

const listLong = `List the change requests of a cluster, the newest first.

With --watch it goes on, and prints a line whenever a change request is new or has another status.`

const listExample = `  kubectl changeward list
  kubectl changeward list --watch
  kubectl changeward list -o json`

type listOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	output  cli.OutputFlag
	watch   bool
}

func newList(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &listOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "list", Short: "list change requests", Long: listLong, Example: listExample,
		Args: cli.Args(0, 0, "no arguments"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.output.Validate(); err != nil {
				return err
			}
			if o.watch && o.output.Format == cli.FormatJSON {
				return cli.Usage("--watch does not go with -o json, which is exactly one document")
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "go on, and print what changes")
	o.cluster.AddFlags(cmd, streams)
	o.output.AddFlag(cmd, cli.FormatName)
	return cmd
}

func (o *listOptions) run(ctx context.Context) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsRecords)
	if err != nil {
		return err
	}
	requests := session.Ledger.Requests()
	if err := o.print(requests, session.Ledger.Now()); err != nil {
		return err
	}
	for _, rejected := range session.Ledger.Rejected {
		o.streams.Note(fmt.Sprintf("note: %s record %s does not count: %s: %s", rejected.Type, rejected.Name, rejected.Reason, rejected.Detail))
	}
	if !o.watch {
		return nil
	}
	return o.follow(ctx, session, requests)
}

func (o *listOptions) print(requests []gate.Request, now time.Time) error {
	return o.streams.Print(o.output, cli.Result{
		Text: func() string {
			if len(requests) == 0 {
				return "no change requests yet\n"
			}
			return render.Requests(requests, now)
		},
		JSON: func() any { return render.RequestListDocument(requests) },
		Names: func() []string {
			var names []string
			for _, r := range requests {
				names = append(names, r.ID)
			}
			return names
		},
	})
}

// follow prints change requests that are new or have another status, until it
// is interrupted, which is how it is meant to end.
func (o *listOptions) follow(ctx context.Context, session *cli.Session, before []gate.Request) error {
	known, first := map[string]gate.Status{}, len(before) == 0
	for _, r := range before {
		known[r.ID] = r.Status
	}
	ticker := time.NewTicker(cli.PollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := session.Reload(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		var changed []gate.Request
		for _, r := range session.Ledger.Requests() {
			if known[r.ID] != r.Status {
				known[r.ID] = r.Status
				changed = append(changed, r)
			}
		}
		if len(changed) > 0 {
			if err := o.add(session.Ledger, changed, first); err != nil {
				return err
			}
			first = false
		}
	}
}

// add prints requests below what is printed already: the columns stay, and the
// header is there once.
func (o *listOptions) add(ledger *gate.Ledger, changed []gate.Request, first bool) error {
	if first || o.output.Format == cli.FormatName {
		return o.print(changed, ledger.Now())
	}
	return o.streams.Print(o.output, cli.Result{Text: func() string { return render.RequestRows(ledger.Requests(), changed, ledger.Now()) }})
}
