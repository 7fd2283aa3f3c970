package main

import (
	"context"
	"fmt"
	"time"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

// pollEvery is the pause between two looks at a change request.
const pollEvery = 3 * time.Second

func (o *gateOptions) run(ctx context.Context) error {
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.CountsRecords)
	if err != nil {
		return err
	}
	result, err := o.judge(ctx, session)
	if err != nil {
		return err
	}
	if o.wait {
		if result, err = o.await(ctx, session, result); err != nil {
			return err
		}
	}
	if err := o.print(session, result); err != nil {
		return err
	}
	return o.answer(session, result)
}

// judge plans and runs the gate once.
func (o *gateOptions) judge(ctx context.Context, session *cli.Session) (*gate.Result, error) {
	planned, err := session.Plan(ctx, o.input)
	if err != nil {
		return nil, err
	}
	refusals, err := session.GateRefusals(ctx)
	if err != nil {
		return nil, err
	}
	if session.Gate.Signer, err = session.GateSigner(ctx, o.keys); err != nil {
		return nil, err
	}
	header := session.Header(planned)
	header.Reason, header.Ticket = o.reason, o.ticket
	if o.author != "" && session.Author == "" { // whom the server names stays
		header.Author = &state.Author{Name: o.author, Claimed: true}
	}
	return session.Gate.Run(ctx, session.Ledger, gate.Input{Plan: planned.Plan, Observations: planned.Observations, Before: planned.Before, Header: header,
		Lane: cli.LaneGitOps, Refusals: refusals, Again: o.again})
}

// await looks at the change request until it is decided, then judges anew:
// what was allowed a minute ago may be another plan now.
func (o *gateOptions) await(ctx context.Context, session *cli.Session, result *gate.Result) (*gate.Result, error) {
	deadline := time.NewTimer(o.timeout)
	defer deadline.Stop()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	announced := ""
	for waiting(result) {
		if id := result.Request.ID; id != announced {
			o.announce(session, result)
			announced = id
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-deadline.C:
			o.streams.Note(fmt.Sprintf("nobody decided within %s", o.timeout))
			return result, nil
		case <-ticker.C:
		}
		var err error
		if session.Ledger, err = session.Gate.LoadFor(ctx, result.Request.Header.Scope, result.Request.Hash); err != nil {
			return nil, err
		}
		now, err := session.Ledger.Find(result.Request.ID)
		if err != nil {
			return nil, err
		}
		if now.Status == result.Request.Status {
			continue
		}
		o.again = false // was asked for once
		if result, err = o.judge(ctx, session); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func waiting(r *gate.Result) bool {
	return r.Enforced && r.Request != nil && r.Verdict.Decision == state.VerdictApprovalRequired
}

// announce tells the waiting person, and whoever reads the log, what is waited
// for.
func (o *gateOptions) announce(session *cli.Session, result *gate.Result) {
	o.streams.Story(o.streams.ErrStyle().Gate(o.view(session, result), result))
	o.streams.Hint(fmt.Sprintf("waiting up to %s; approve with `%s approve %s`", o.timeout, o.streams.Program, result.Request.ID))
}

func (o *gateOptions) view(session *cli.Session, r *gate.Result) render.PlanView {
	return session.View(r.Plan, &r.Judgement, o.showUnchanged)
}

func (o *gateOptions) print(session *cli.Session, r *gate.Result) error {
	view := o.view(session, r)
	text := func(style render.Style) string { return style.Gate(view, r) }
	markdown := func() string { return o.streams.Style().Markdown(render.Comment{View: view, Result: r}) }
	document := func() any { return render.GateDocument(view, r) }
	if o.out != "" {
		if err := cli.WriteOut(o.out, markdown(), text(render.Style{Program: o.streams.Program}), document()); err != nil {
			return err
		}
	}
	return o.streams.Print(o.output, cli.Result{Text: func() string { return text(o.streams.Style()) }, JSON: document, Markdown: markdown})
}

// answer is the exit code, and how to go on.
func (o *gateOptions) answer(session *cli.Session, r *gate.Result) error {
	if r.Plan != nil && !r.Plan.Complete() {
		return cli.Incomplete(r.Plan)
	}
	if !r.Enforced && r.Verdict.Decision != state.VerdictError {
		return nil
	}
	var hints []string
	if r.Request != nil {
		switch {
		case r.Verdict.Decision == state.VerdictApprovalRequired:
			hints = append(hints, fmt.Sprintf("approve with `%s approve %s`, then run the gate again", o.streams.Program, r.Request.ID))
			if session.OnCall() {
				hints = append(hints, breakGlass(o.streams.Program, r.Request.ID))
			}
		case r.Request.Status == gate.Rejected:
			hints = append(hints, "once the objection is met, ask again with --again --reason")
		}
	}
	return cli.VerdictFailure(r.Verdict, o.streams.Program, hints...)
}
