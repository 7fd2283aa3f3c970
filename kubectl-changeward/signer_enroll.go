package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/pkg/sign"
)

const signerEnrollLong = `Enroll an SSH key as yours. Your first key needs nothing else, and approve enrolls it by itself.

Every further one counts once it is signed for: now, with --voucher, by a key of yours that is
enrolled already; or later, with signer countersign, by such a key on another machine, or by an
admin. So a stolen kubeconfig brings no key of its own.

To state your logins at the forge, enroll the same key again with --forge-login.`

type enrollOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	output  cli.OutputFlag
	keys    cli.KeyFlags
	voucher string
	logins  []string
}

func newSignerEnroll(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &enrollOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "enroll", Short: "enroll an SSH key as yours", Long: signerEnrollLong,
		Example: "  kubectl changeward signer enroll --forge-login github:alice\n  kubectl changeward signer enroll --key ~/.ssh/new --voucher ~/.ssh/id_ed25519",
		Args:    cli.Args(0, 0, "no arguments"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.output.Validate(); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.voucher, "voucher", "", "an enrolled key of yours that signs for this one")
	cmd.Flags().StringSliceVar(&o.logins, "forge-login", nil, "your logins at forges, such as github:alice, so that you cannot approve what you wrote")
	cluster.AddFlags(cmd, o.streams)
	o.keys.AddFlags(cmd)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *enrollOptions) run(ctx context.Context) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsRecords)
	if err != nil {
		return err
	}
	key, err := session.Finder(o.keys).Find(ctx, o.keys.Key)
	if err != nil {
		return err
	}
	var voucher sign.Signer
	if o.voucher != "" {
		if voucher, err = session.Finder(o.keys).Find(ctx, o.voucher); err != nil {
			return fmt.Errorf("--voucher: %w", err)
		}
	}
	fingerprint, person := ssh.FingerprintSHA256(key.PublicKey()), session.Gate.Caller.Username
	if err := session.Asker().Confirm(fmt.Sprintf("enroll key %s as that of %s?", fingerprint, person), o.keys.Yes); err != nil {
		return err
	}
	record, err := session.Gate.Enroll(ctx, session.Ledger, key, voucher, o.logins)
	if err != nil {
		return err
	}
	if err := session.Reload(ctx); err != nil {
		return err
	}
	document := render.Signer{Type: render.Head(render.KindSigner), Person: person, Fingerprint: fingerprint, Record: record.Name, Status: worth(session, fingerprint)}
	return o.streams.Print(o.output, cli.Result{
		Text: func() string {
			if document.Status == gate.KeyWaiting {
				return fmt.Sprintf("key %s waits: you with an enrolled key, or an admin, must sign for it: `%s signer countersign %s`\n", fingerprint, o.streams.Program, fingerprint)
			}
			return fmt.Sprintf("enrolled key %s as that of %s\n", fingerprint, render.Escape(person))
		},
		JSON: func() any { return document },
	})
}

// worth is the status of a key.
func worth(session *cli.Session, fingerprint string) string {
	for _, k := range session.Ledger.Keys() {
		if k.Fingerprint == fingerprint {
			return k.Status
		}
	}
	return ""
}
