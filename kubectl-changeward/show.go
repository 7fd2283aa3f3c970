package main

import (
	"context"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

const showLong = `Show a change request: its plan, read from the recorded bytes, who asked, and what was decided.

A change request is named by its id (c_9dd33d8939b8), its number ('#3' or 3), its plan
(p_f88610636592: the newest request of that plan), or the full plan hash.

--pae and --signature write what ssh-keygen needs to verify a record by itself: the signed
bytes, and the signature. They take a change request, or the name of any record.`

const showExample = `  kubectl changeward show '#3'
  kubectl changeward show c_9dd33d8939b8 -o json

  # verify an approval with ssh-keygen alone
  kubectl changeward show cw-decision-0123456789ab --pae > signed
  kubectl changeward show cw-decision-0123456789ab --signature > signed.sig
  ssh-keygen -Y verify -n decision@changeward.dev -I alice -f allowed_signers -s signed.sig < signed`

type showOptions struct {
	streams        cli.Streams
	cluster        *cli.ClusterFlags
	output         cli.OutputFlag
	pae, signature bool
}

func newShow(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &showOptions{streams: streams, cluster: cluster}
	cmd := &cobra.Command{
		Use: "show CHANGE", Short: "show a change request, its plan and its decisions", Long: showLong, Example: showExample,
		Args: cli.Args(1, 1, "one change request, such as '#3'"), ValidArgsFunction: cli.CompleteRequests(streams, cluster, nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.output.Validate(); err != nil {
				return err
			}
			if o.pae && o.signature {
				return cli.Usage("choose one of --pae and --signature")
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	cmd.Flags().BoolVar(&o.pae, "pae", false, "write the signed bytes of the record")
	cmd.Flags().BoolVar(&o.signature, "signature", false, "write the signature of the record, as ssh-keygen reads it")
	o.cluster.AddFlags(cmd, streams)
	o.output.AddFlag(cmd, cli.FormatMarkdown)
	return cmd
}

func (o *showOptions) run(ctx context.Context, ref string) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsRecords, ref)
	if err != nil {
		return err
	}
	if o.pae || o.signature {
		return o.signed(ctx, session, ref)
	}
	request, err := session.Ledger.Find(ref)
	if err != nil {
		return err
	}
	view, err := session.StoredView(ctx, request)
	if err != nil {
		return err
	}
	return o.streams.Print(o.output, cli.Result{
		Text: func() string {
			style := o.streams.Style()
			style.Full = true
			if view == nil {
				return style.Request(request)
			}
			return style.Plan(*view) + style.Request(request)
		},
		JSON: func() any { return render.RequestDocument(request, view) },
		Markdown: func() string {
			if view == nil {
				return render.Fence("", render.Style{}.Request(request))
			}
			return o.streams.Style().Markdown(render.Comment{View: *view, Verdict: render.Style{}.Request(request)})
		},
	})
}

// signed writes the signed bytes of a record, or its signature.
func (o *showOptions) signed(ctx context.Context, session *cli.Session, ref string) error {
	t, name := recordOf(ref)
	if name == "" {
		request, err := session.Ledger.Find(ref)
		if err != nil {
			return err
		}
		t, name = state.TypePlan, state.NumberedName(state.TypePlan, request.Number)
	}
	record, err := session.Gate.Store.Get(ctx, t, name)
	if err != nil {
		return err
	}
	envelope, err := state.ParseEnvelope(record.Data[state.DataEnvelope])
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	content := state.PAE(envelope.PayloadType, envelope.Payload)
	if o.signature {
		content = pem.EncodeToMemory(&pem.Block{Type: "SSH SIGNATURE", Bytes: envelope.Signatures[0].Sig})
	}
	_, err = o.streams.Out.Write(content)
	return err
}

// recordOf reads a record's name, cw-TYPE-…; "" where ref is none.
func recordOf(ref string) (state.Type, string) {
	rest, found := strings.CutPrefix(ref, "cw-")
	if !found {
		return "", ""
	}
	t, _, _ := strings.Cut(rest, "-")
	return state.Type(t), ref
}
