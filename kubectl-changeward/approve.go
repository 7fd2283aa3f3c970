package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

const approveLong = `Approve change requests with your own SSH key.

Each plan is read from the recorded bytes, its hash is computed anew, and the whole plan is shown
before anything is asked. What is signed is that hash, and nothing else.

Plans that delete, replace or prune, that touch RBAC, webhooks, CRDs or changeward itself, or that
run hooks, ask for the last four digits of the hash; with --yes, --confirm says them.

Your first key is enrolled as yours on first use. Which key: --key, $CHANGEWARD_KEY, the enrolled
one in your SSH agent or ~/.ssh, or git's user.signingkey.`

const approveExample = `  kubectl changeward approve '#3'
  kubectl changeward approve c_9dd33d8939b8 c_0f1e2d3c4b5a --reason "reviewed with the cart team"

  # a dangerous plan, without questions
  kubectl changeward approve '#3' --yes --confirm 6592`

type decideOptions struct {
	streams   cli.Streams
	cluster   *cli.ClusterFlags
	output    cli.OutputFlag
	keys      cli.KeyFlags
	action    string
	reason    string
	ticket    string
	confirm   string
	emergency bool
}

func newApprove(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &decideOptions{streams: streams, cluster: cluster, action: state.ActionApprove}
	cmd := o.verb(cobra.Command{
		Use: "approve CHANGE...", Short: "read plans, and approve them with your key", Long: approveLong, Example: approveExample,
	}, gate.AwaitingApproval, gate.Expired, gate.Superseded)
	cmd.Flags().StringVar(&o.confirm, "confirm", "", "last four digits of the plan hash, for dangerous plans")
	cmd.Flags().BoolVar(&o.emergency, "emergency", false, "break the glass: approve alone, also an own change; takes --reason, and is to be reviewed")
	return cmd
}

// verb completes the command of a decision on change requests, of which those
// with one of the statuses are offered.
func (o *decideOptions) verb(cmd cobra.Command, statuses ...gate.Status) *cobra.Command {
	cmd.Args = cli.Args(1, -1, "change requests, such as '#3'")
	cmd.ValidArgsFunction = cli.CompleteRequests(o.streams, o.cluster, statuses)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.validate(args); err != nil {
			return err
		}
		return o.run(cmd.Context(), args)
	}
	o.addFlags(&cmd)
	return &cmd
}

func (o *decideOptions) addFlags(cmd *cobra.Command) {
	o.cluster.AddFlags(cmd, o.streams)
	o.output.AddFlag(cmd)
	o.keys.AddFlags(cmd)
	cmd.Flags().StringVar(&o.reason, "reason", "", "why; it is signed and kept")
	cmd.Flags().StringVar(&o.ticket, "ticket", "", "ticket; it is signed and kept")
}

func (o *decideOptions) validate(args []string) error {
	problems := []error{o.output.Validate()}
	if o.emergency && o.reason == "" {
		problems = append(problems, cli.Usage("--emergency needs a --reason"))
	}
	if o.action == approval.ActionReview && o.reason == "" {
		problems = append(problems, cli.Usage("a review needs a --reason: what did you find?"))
	}
	if o.confirm != "" && len(args) > 1 {
		problems = append(problems, cli.Usage("--confirm goes with a single change request"))
	}
	return errors.Join(problems...)
}

// run decides on one request after the other. The first that fails stops; what
// was signed before it stays, and is in the answer.
func (o *decideOptions) run(ctx context.Context, refs []string) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsRecords, refs...)
	if err != nil {
		return err
	}
	requests := make([]gate.Request, 0, len(refs))
	var problems []error
	for _, ref := range refs {
		request, err := session.Ledger.Find(ref)
		problems = append(problems, err)
		requests = append(requests, request)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	var done []render.DecisionResult
	for _, request := range requests {
		result, err := o.decide(ctx, session, request)
		if err != nil {
			return errors.Join(err, o.left(done))
		}
		done = append(done, result)
	}
	return o.print(done)
}

// left says what was signed before a failure: it stays.
func (o *decideOptions) left(done []render.DecisionResult) error {
	for _, d := range done {
		o.streams.Note(fmt.Sprintf("note: %s of %s is signed and stays", d.Action, d.Change.ID))
	}
	return nil
}

func (o *decideOptions) decide(ctx context.Context, session *cli.Session, request gate.Request) (render.DecisionResult, error) {
	if err := o.show(ctx, session, request); err != nil {
		return render.DecisionResult{}, err
	}
	signer, first, err := session.OwnKey(ctx, o.keys)
	if err != nil {
		return render.DecisionResult{}, err
	}
	record, err := o.sign(ctx, session, request, signer, first)
	if err != nil {
		return render.DecisionResult{}, err
	}
	if first {
		session.NoteEnrolled(signer)
	}
	if err := session.Reload(ctx); err != nil {
		return render.DecisionResult{}, err
	}
	now, err := session.Ledger.Find(request.ID)
	if err != nil {
		return render.DecisionResult{}, err
	}
	return render.DecisionResultDocument(o.action, record.Name, now), nil
}

// sign stores the decision or the review. Who may not approve, and is on call,
// is told what they could do alone.
func (o *decideOptions) sign(ctx context.Context, session *cli.Session, request gate.Request, signer sign.Signer, first bool) (state.Record, error) {
	if o.action == approval.ActionReview {
		return session.Gate.Review(ctx, session.Ledger, request, o.reason, signer, first)
	}
	record, err := session.Gate.Decide(ctx, session.Ledger, gate.DecideInput{Request: request, Action: o.action,
		Reason: o.reason, Ticket: o.ticket, Emergency: o.emergency, Signer: signer, First: first})
	var fault *gate.Fault
	if o.action == state.ActionApprove && !o.emergency && errors.As(err, &fault) && session.OnCall() {
		if alone := []string{approval.IsProposer, approval.IsAuthor, approval.NotInGroup, approval.AuthorUnknown}; slices.Contains(alone, fault.Reason) {
			return record, cli.Fail(fault.Reason, err, cli.BreakGlass(o.streams.Program, request.ID))
		}
	}
	return record, err
}

// show prints the whole plan from its recorded bytes, says what is odd about
// the request, and asks. If the plan could not be written, nothing is asked.
func (o *decideOptions) show(ctx context.Context, session *cli.Session, request gate.Request) error {
	if o.action != state.ActionApprove && o.action != approval.ActionReview {
		o.streams.Story(o.streams.ErrStyle().Request(request))
		return session.Asker().Confirm(fmt.Sprintf("%s %s?", o.action, request.ID), o.keys.Yes)
	}
	view, err := session.StoredView(ctx, request)
	if err != nil {
		return err
	}
	if view == nil {
		return cli.Fail(request.Void, fmt.Errorf("%s cannot be %s: %s", request.ID, render.Past(o.action), request.Detail))
	}
	style := o.streams.ErrStyle()
	style.Full = true
	findings := ""
	if len(view.Plan.Changes) > 20 { // they have scrolled away
		findings = style.Risks(view.Plan)
	}
	if err := o.streams.StoryWhole(style.Plan(*view) + style.Request(request) + findings); err != nil {
		return err
	}
	if o.action == approval.ActionReview {
		return session.Asker().Confirm(fmt.Sprintf("review %s (#%d)?", request.ID, request.Number), o.keys.Yes)
	}
	if warning := oddity(request); warning != "" {
		o.streams.Note("warning: " + warning)
	}
	if dangerous(view.Plan) || o.confirm != "" { // digits of another plan are meant for another plan
		hash := state.Hex(view.Plan.Hash)
		question := fmt.Sprintf("this plan is dangerous. To approve %s (#%d), type the last four digits of its hash, which is shown above:", request.ID, request.Number)
		return session.Asker().Digits(question, hash[len(hash)-4:], o.confirm, o.keys.Yes)
	}
	return session.Asker().Confirm(fmt.Sprintf("approve %s (#%d)?", request.ID, request.Number), o.keys.Yes)
}

// oddity is what a person should know before approving.
func oddity(r gate.Request) string {
	switch r.Status {
	case gate.Superseded:
		return "a newer plan of this scope has been put forward since"
	case gate.Expired:
		return "this plan was approved before, and the approval has expired"
	case gate.Rejected:
		return "this request is rejected, and no approval changes that: who proposed it can ask again with gate --again"
	case gate.Approved, gate.AutoApproved:
		return "this plan is approved already"
	}
	return ""
}

// dangerous plans are confirmed by the digits of their hash.
func dangerous(p *plan.Plan) bool {
	names := []string{plan.RiskDelete, plan.RiskReplace, plan.RiskPrune, plan.RiskRBAC, plan.RiskWebhook, plan.RiskCRD, plan.RiskHook, plan.RiskProtected}
	return slices.ContainsFunc(p.Risks(), func(r plan.Risk) bool { return slices.Contains(names, r.Name) })
}

func (o *decideOptions) print(done []render.DecisionResult) error {
	return o.streams.Print(o.output, cli.Result{
		Text: func() string {
			text := ""
			for _, d := range done {
				text += d.Text()
			}
			return text
		},
		JSON: func() any {
			return render.DecisionList{Type: render.Head(render.KindDecisionList), Items: done}
		},
	})
}
