package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/pkg/sign"
)

func newSigner(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	return cli.Group("signer", "SSH keys of people", newSignerCreate(streams), newSignerEnroll(streams, cluster), newSignerList(streams, cluster))
}

const signerCreateLong = `Make an SSH key to sign with, in ~/.ssh. An existing key is never replaced; if you have one, use it:
agents and hardware keys work.

The key has no passphrase: ssh-keygen -p gives it one.`

func newSignerCreate(streams cli.Streams) *cobra.Command {
	var output cli.OutputFlag
	var file string
	cmd := &cobra.Command{
		Use: "create", Short: "make an SSH key to sign with", Long: signerCreateLong,
		Example: "  kubectl changeward signer create\n  kubectl changeward signer create --file ~/.ssh/changeward",
		Args:    cli.Args(0, 0, "no arguments"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(*cobra.Command, []string) error {
			if err := output.Validate(); err != nil {
				return err
			}
			return createSigner(streams, output, file)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "where to write it (default: ~/.ssh/id_ed25519)")
	output.AddFlag(cmd)
	return cmd
}

func createSigner(streams cli.Streams, output cli.OutputFlag, file string) error {
	if file == "" {
		home := streams.Home()
		if home == "" {
			return cli.Usage("there is no home directory: name the file with --file")
		}
		file = filepath.Join(home, ".ssh", "id_ed25519")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return fmt.Errorf("make a key: %w", err)
		}
	}
	signer, err := sign.CreateKey(file, "changeward")
	if errors.Is(err, fs.ErrExist) {
		return cli.Fail(cli.ReasonFailed, fmt.Errorf("there is a key already: %s", file), "use it: `kubectl changeward signer enroll --key "+file+"`")
	}
	if err != nil {
		return err
	}
	document := render.Signer{Type: render.Head(render.KindSigner), File: file, Fingerprint: ssh.FingerprintSHA256(signer.PublicKey()),
		PublicKey: sign.AuthorizedKey(signer.PublicKey())}
	return streams.Print(output, cli.Result{
		Text: func() string {
			return fmt.Sprintf("made key %s in %s\n", document.Fingerprint, render.Escape(file))
		},
		JSON: func() any { return document },
	})
}

const signerListLong = `List the enrolled keys: whose they are, since when, and which are revoked.`

func newSignerList(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	var output cli.OutputFlag
	cmd := &cobra.Command{
		Use: "list", Short: "list the enrolled keys", Long: signerListLong,
		Example: "  kubectl changeward signer list\n  kubectl changeward signer list -o json",
		Args:    cli.Args(0, 0, "no arguments"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.Validate(); err != nil {
				return err
			}
			session, err := cli.Connect(cmd.Context(), cluster, streams, cli.NeedsRecords)
			if err != nil {
				return err
			}
			return printSigners(streams, output, session)
		},
	}
	cluster.AddFlags(cmd, streams)
	output.AddFlag(cmd, cli.FormatName)
	return cmd
}

func printSigners(streams cli.Streams, output cli.OutputFlag, session *cli.Session) error {
	entries := session.Ledger.Ring().Entries()
	return streams.Print(output, cli.Result{
		Text: func() string { return render.Signers(entries, session.Ledger.Now()) },
		JSON: func() any { return render.SignerListDocument(entries) },
		Names: func() []string {
			var names []string
			for _, e := range entries {
				names = append(names, e.Fingerprint)
			}
			return names
		},
	})
}

const signerEnrollLong = `Enroll an SSH key as yours. Your first key needs nothing else, and approve enrolls it by itself;
every further one is vouched for by a key that is enrolled already.`

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
		Example: "  kubectl changeward signer enroll\n  kubectl changeward signer enroll --key ~/.ssh/new --voucher ~/.ssh/id_ed25519",
		Args:    cli.Args(0, 0, "no arguments"), ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.output.Validate(); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.voucher, "voucher", "", "an enrolled key of yours that vouches for this one")
	cmd.Flags().StringSliceVar(&o.logins, "login", nil, "your logins at the forge, so that you cannot approve what you wrote")
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
	document := render.Signer{Type: render.Head(render.KindSigner), Person: person, Fingerprint: fingerprint, Record: record.Name}
	return o.streams.Print(o.output, cli.Result{
		Text: func() string {
			return fmt.Sprintf("enrolled key %s as that of %s\n", fingerprint, render.Escape(person))
		},
		JSON: func() any { return document },
	})
}
