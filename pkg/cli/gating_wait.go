package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/state"
)

// PollEvery is the pause between two looks at a change request.
const PollEvery = 3 * time.Second

// await looks at the change request until it is decided, then judges anew:
// what was allowed a minute ago may be another plan now.
func (g *Gating) await(ctx context.Context, session *Session, input InputFlags, result *gate.Result) (*gate.Result, error) {
	deadline := time.NewTimer(g.timeout)
	defer deadline.Stop()
	ticker := time.NewTicker(PollEvery)
	defer ticker.Stop()
	announced := ""
	for waiting(result) {
		if id := result.Request.ID; id != announced {
			g.announce(session, result)
			announced = id
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-deadline.C:
			g.Streams.Note(fmt.Sprintf("nobody decided within %s", g.timeout))
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
		g.again = false // was asked for once
		if result, err = g.judge(ctx, session, input); err != nil {
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
func (g *Gating) announce(session *Session, result *gate.Result) {
	g.Streams.Story(g.Streams.ErrStyle().Gate(g.view(session, result), result))
	g.Streams.Hint(fmt.Sprintf("waiting up to %s; approve with `%s approve %s`", g.timeout, g.Streams.Advice(), result.Request.ID))
}
