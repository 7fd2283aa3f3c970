package main

import (
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
	return cli.Group("signer", "SSH keys of people", newSignerCreate(streams), newSignerEnroll(streams, cluster),
		newSignerCountersign(streams, cluster), newSignerRevoke(streams, cluster), newSignerList(streams, cluster), newSignerRoster(streams, cluster))
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

const signerListLong = `List the enrolled keys: whose they are, since when, and what they are worth.

young: valid, for less than a day. waiting: a further key that nobody has signed for yet. in-doubt:
enrolled while the admission policies may have been down, so it is to be enrolled again. revoked,
not-on-roster: counts for nothing.`

func newSignerList(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	var output cli.OutputFlag
	cmd := showVerb(cobra.Command{
		Use: "list", Short: "list the enrolled keys", Long: signerListLong,
		Example: "  kubectl changeward signer list\n  kubectl changeward signer list -o json",
	}, streams, cluster, &output, func(session *cli.Session) error {
		return printSigners(streams, output, session)
	})
	output.AddFlag(cmd, cli.FormatName)
	return cmd
}

func printSigners(streams cli.Streams, output cli.OutputFlag, session *cli.Session) error {
	entries := session.Ledger.Keys()
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
