package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// keyOptions are those of verbs that say something about one key.
type keyOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	output  cli.OutputFlag
	keys    cli.KeyFlags
	reason  string
	// ask is the question about a key; said what was done.
	ask  func(gate.Key) string
	done string
	do   func(ctx context.Context, session *cli.Session, fingerprint string, signer sign.Signer) (state.Record, error)
}

const countersignLong = `Sign for a key that waits: for one of your own with a key of yours that is enrolled already, or, as an
admin, for anyone's. An admin can sign for a person's first key, too, so that it rests on more than
the API server's word.

Ask the person for the fingerprint by another way first: who stole a kubeconfig can ask, too.`

func newSignerCountersign(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &keyOptions{streams: streams, cluster: cluster, done: "signed for key %s of %s\n",
		ask: func(k gate.Key) string {
			return fmt.Sprintf("sign for key %s as that of %s? Compare the fingerprint with the person first.", k.Fingerprint, k.Person)
		},
		do: func(ctx context.Context, session *cli.Session, fingerprint string, signer sign.Signer) (state.Record, error) {
			return session.Gate.Countersign(ctx, session.Ledger, fingerprint, signer)
		}}
	return o.verb(&cobra.Command{
		Use: "countersign FINGERPRINT", Short: "sign for a further key", Long: countersignLong,
		Example: "  kubectl changeward signer list\n  kubectl changeward signer countersign SHA256:uLF7h3ftEVHg0Qk1ivDRQ3zLSmbBcEdQzNZc0oeqzEM",
	})
}

const signerRevokeLong = `End a key for good: your own, or, as an admin and with --reason, anyone's.

It counts at once: every approval that was made with it, and that no gate has used up, is void.
What gates have let through before is not undone. A revoked key never returns; after your last key
only an admin can sign for a new one.`

func newSignerRevoke(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &keyOptions{streams: streams, cluster: cluster, done: "revoked key %s of %s\n",
		ask: func(k gate.Key) string {
			return fmt.Sprintf("revoke key %s of %s for good?", k.Fingerprint, k.Person)
		}}
	o.do = func(ctx context.Context, session *cli.Session, fingerprint string, signer sign.Signer) (state.Record, error) {
		return session.Gate.RevokeKey(ctx, session.Ledger, fingerprint, o.reason, signer)
	}
	cmd := o.verb(&cobra.Command{
		Use: "revoke FINGERPRINT", Short: "end a key for good", Long: signerRevokeLong,
		Example: "  kubectl changeward signer revoke SHA256:uLF7h3ftEVHg0Qk1ivDRQ3zLSmbBcEdQzNZc0oeqzEM --reason \"laptop stolen\"",
	})
	cmd.Flags().StringVar(&o.reason, "reason", "", "why; it is signed and kept")
	return cmd
}

func (o *keyOptions) verb(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cli.Args(1, 1, "one fingerprint, as signer list shows it")
	cmd.ValidArgsFunction = cli.CompleteNothing
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.output.Validate(); err != nil {
			return err
		}
		return o.run(cmd.Context(), args[0])
	}
	o.cluster.AddFlags(cmd, o.streams)
	o.keys.AddFlags(cmd)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *keyOptions) run(ctx context.Context, fingerprint string) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsRecords)
	if err != nil {
		return err
	}
	key := gate.Key{Entry: sign.Entry{Fingerprint: fingerprint}}
	for _, k := range session.Ledger.Keys() {
		if k.Fingerprint == fingerprint {
			key = k
		}
	}
	if key.Person == "" {
		return cli.Fail(gate.ReasonNotFound, fmt.Errorf("no key %s", fingerprint), "`"+o.streams.Program+" signer list` shows all keys")
	}
	signer, err := session.Finder(o.keys).Find(ctx, o.keys.Key)
	if err != nil {
		return err
	}
	if err := session.Asker().Confirm(o.ask(key), o.keys.Yes); err != nil {
		return err
	}
	record, err := o.do(ctx, session, fingerprint, signer)
	if err != nil {
		return err
	}
	if err := session.Reload(ctx); err != nil {
		return err
	}
	document := render.Signer{Type: render.Head(render.KindSigner), Person: key.Person, Fingerprint: fingerprint, Record: record.Name, Status: worth(session, fingerprint)}
	return o.streams.Print(o.output, cli.Result{
		Text: func() string { return fmt.Sprintf(o.done, fingerprint, render.Escape(key.Person)) },
		JSON: func() any { return document },
	})
}
