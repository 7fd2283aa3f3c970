package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

// Gating is how a gate puts plans forward, waits and answers. Fill in Streams,
// then AddFlags, Validate, Run.
type Gating struct {
	Streams Streams
	output  OutputFlag
	keys    KeyFlags
	out     string
	author  string
	reason  string
	ticket  string
	again   bool
	wait    bool
	timeout time.Duration
	// showUnchanged lists objects that would not change.
	showUnchanged bool
	given         func(flag string) bool
}

// AddFlags registers what every gate takes beside its inputs.
func (g *Gating) AddFlags(cmd *cobra.Command) {
	g.output.AddFlag(cmd, FormatMarkdown)
	g.keys.AddFlags(cmd)
	flags := cmd.Flags()
	AddOutFlag(cmd, &g.out)
	AddTerminationLogFlag(cmd)
	flags.BoolVar(&g.wait, "wait", false, "wait for the decision instead of exiting with 2")
	flags.DurationVar(&g.timeout, "timeout", 10*time.Minute, "how long to wait with --wait")
	flags.BoolVar(&g.again, "again", false, "put a rejected plan forward once more; takes --reason")
	flags.StringVar(&g.reason, "reason", "", "why this change is needed; shown to approvers")
	flags.StringVar(&g.ticket, "ticket", "", "ticket of this change; shown to approvers")
	flags.StringVar(&g.author, "author", "", "who made the change (default: as the CI's environment claims, or the commit of the checkout)")
	flags.BoolVar(&g.showUnchanged, "show-unchanged", false, "list objects that would not change, too")
	g.given = flags.Changed
}

// Validate refuses flags that do not go together.
func (g *Gating) Validate() error {
	problems := []error{g.output.Validate()}
	if g.again && g.reason == "" {
		problems = append(problems, Usage("--again needs a --reason: what is different now?"))
	}
	if g.given("timeout") && !g.wait {
		problems = append(problems, Usage("--timeout says how long --wait waits: say --wait, too"))
	}
	if g.timeout <= 0 {
		problems = append(problems, Usage("--timeout must be positive"))
	}
	return errors.Join(problems...)
}

// Run plans inputs, puts each plan forward, and answers: its error is the exit
// code, the strictest one of several.
func (g *Gating) Run(ctx context.Context, session *Session, inputs ...InputFlags) error {
	one := func(ctx context.Context, input InputFlags) (answer, error) {
		result, err := g.decide(ctx, session, input)
		if err != nil {
			return answer{}, err
		}
		return g.answer(session, result), nil
	}
	a, err := session.answer(ctx, gateResults, inputs, one)
	if err != nil {
		return err
	}
	return g.Streams.deliver(g.output, g.out, a)
}

// decide judges, and waits where that was asked for.
func (g *Gating) decide(ctx context.Context, session *Session, input InputFlags) (*gate.Result, error) {
	result, err := g.judge(ctx, session, input)
	if err != nil || !g.wait {
		return result, err
	}
	return g.await(ctx, session, input, result)
}

// judge plans and runs the gate once.
func (g *Gating) judge(ctx context.Context, session *Session, input InputFlags) (*gate.Result, error) {
	planned, err := session.Plan(ctx, input)
	if err != nil {
		return nil, err
	}
	refusals, err := session.GateRefusals(ctx)
	if err != nil {
		return nil, err
	}
	if session.Gate.Signer, err = session.GateSigner(ctx, g.keys); err != nil {
		return nil, err
	}
	header := session.Header(planned)
	header.Reason, header.Ticket = g.reason, g.ticket
	if g.author != "" && session.Author == "" { // whom the server names stays
		header.Author = &state.Author{Name: g.author, Claimed: true}
	}
	return session.Gate.Run(ctx, session.Ledger, gate.Input{Plan: planned.Plan, Observations: planned.Observations, Before: planned.Before, Header: header,
		Lane: LaneGitOps, Refusals: refusals, Again: g.again})
}

func (g *Gating) view(session *Session, r *gate.Result) render.PlanView {
	return session.View(r.Plan, &r.Judgement, g.showUnchanged)
}

func (g *Gating) answer(session *Session, r *gate.Result) answer {
	view := g.view(session, r)
	return answer{text: func(style render.Style) string { return style.Gate(view, r) }, document: render.GateDocument(view, r),
		markdown: g.Streams.Style().Markdown(render.Comment{View: view, Result: r}), exit: g.exit(session, r)}
}

// exit is the exit code, and how to go on.
func (g *Gating) exit(session *Session, r *gate.Result) error {
	if r.Plan != nil && !r.Plan.Complete() {
		return Incomplete(r.Plan)
	}
	if !r.Enforced && r.Verdict.Decision != state.VerdictError {
		return nil
	}
	var hints []string
	if r.Request != nil {
		switch {
		case r.Verdict.Decision == state.VerdictApprovalRequired:
			hints = append(hints, fmt.Sprintf("approve with `%s approve %s`, then run the gate again", g.Streams.Advice(), r.Request.ID))
			if session.OnCall() {
				hints = append(hints, BreakGlass(g.Streams.Advice(), r.Request.ID))
			}
		case r.Request.Status == gate.Rejected:
			hints = append(hints, "once the objection is met, ask again with --again --reason")
		}
	}
	failure := VerdictFailure(r.Verdict, g.Streams.Advice(), hints...)
	if waiting(r) {
		return waitingFor(failure, r)
	}
	return failure
}
