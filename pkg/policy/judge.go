package policy

import (
	"fmt"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// Judge says what the policy makes of a plan, each change on its own; the
// verdict is the strictest of them, and of the checks on the plan as a whole.
// An incomplete plan is never allowed, nor is any change by an expired policy.
func (p *Policy) Judge(in Input) Judgement {
	outcomes := p.outcomes(in)
	j := Judgement{Enforced: p.Enforce, Changes: make([]ChangeJudgement, 0, len(outcomes))}
	for _, o := range outcomes {
		j.Changes = append(j.Changes, p.judged(o))
	}
	if !in.Plan.Complete() {
		return j.ends(state.VerdictError, ReasonPlanIncomplete, unplanned(len(in.Plan.Failed)))
	}
	if nothing(outcomes) {
		j.Verdict = state.VerdictAllowed
		return j
	}
	if !p.Expires.IsZero() && !in.Now.Before(p.Expires) {
		// With the policy its leniency is over, too.
		j.Enforced = true
		return j.ends(state.VerdictError, ReasonPolicyExpired, "the policy expired at "+p.Expires.Format(timeForm))
	}
	if why := p.stops(in); len(why) > 0 {
		j.Verdict, j.Reasons = state.VerdictDenied, why
		return j
	}
	return p.sum(j, outcomes)
}

const timeForm = "2006-01-02 15:04 MST"

func (j Judgement) ends(verdict, reason, message string) Judgement {
	j.Verdict, j.Reasons = verdict, []Reason{{Reason: reason, Message: message}}
	return j
}

func (p *Policy) outcomes(in Input) []outcome {
	v := p.view(in)
	outcomes := make([]outcome, 0, len(in.Plan.Changes))
	for _, c := range in.Plan.Changes {
		outcomes = append(outcomes, v.decide(c))
	}
	return outcomes
}

// judged is the public form of an outcome.
func (p *Policy) judged(o outcome) ChangeJudgement {
	out := ChangeJudgement{Rule: o.name, Decision: o.decision, Env: o.env, Settled: o.settled, NotEnforced: !o.enforced || !p.Enforce}
	switch {
	case o.settled:
		out.Message = "the same hook is in the latest allowed plan of this scope"
	case len(o.reasons) > 0:
		out.Message = o.reasons[0].Message
	case o.rule != nil:
		out.Message = o.rule.message()
	default:
		out.Message = "no rule decides it"
	}
	return out
}

// nothing says that there is nothing to judge: no change but hooks that were
// allowed before.
func nothing(outcomes []outcome) bool {
	for _, o := range outcomes {
		if !o.settled {
			return false
		}
	}
	return true
}

// stops are the checks on the plan as a whole that deny it.
func (p *Policy) stops(in Input) []Reason {
	var why []Reason
	for _, freeze := range p.Freezes {
		if in.Now.Before(freeze.From) || !in.Now.Before(freeze.To) || freeze.Except.Includes(in.Proposer) {
			continue
		}
		message := fmt.Sprintf("freeze %s until %s", freeze.Name, freeze.To.Format(timeForm))
		if !freeze.Except.Empty() {
			message += "; only " + freeze.Except.String() + " may propose"
		}
		why = append(why, Reason{Reason: ReasonFrozen, Message: message})
	}
	deletes, total := 0, len(in.Plan.Changes)+len(in.Plan.Unchanged)
	for _, c := range in.Plan.Changes {
		if c.Body.Operation == plan.Delete {
			deletes++
		}
	}
	limit := p.MaxDeletes
	if limit.HasCount && deletes > limit.Count {
		why = append(why, Reason{Reason: ReasonTooManyDeletes, Message: fmt.Sprintf("deletes %d objects, at most %d are allowed", deletes, limit.Count)})
	}
	if limit.Share > 0 && float64(deletes) > limit.Share*float64(total) {
		why = append(why, Reason{Reason: ReasonTooManyDeletes,
			Message: fmt.Sprintf("deletes %d of %d objects, at most %g%% are allowed", deletes, total, 100*limit.Share)})
	}
	return why
}

// sum makes the verdict of the changes. Where the enforced part allows the
// plan, the verdict is what the rest would say, marked not enforced.
func (p *Policy) sum(j Judgement, outcomes []outcome) Judgement {
	var firm, soft []outcome
	for _, o := range outcomes {
		if o.enforced {
			firm = append(firm, o)
		} else {
			soft = append(soft, o)
		}
		j.Warnings = append(j.Warnings, p.trials(o)...)
	}
	if strictest(firm) == state.VerdictAllowed && len(soft) > 0 {
		j.Enforced, firm, soft = false, outcomes, nil
	}
	j.Verdict = strictest(firm)
	j.Reasons = reasons(firm, j.Verdict)
	for _, o := range soft {
		j.Reasons = addReason(j.Reasons, Reason{Reason: ReasonNotEnforced,
			Message: fmt.Sprintf("rule %s (not enforced) says %s: %s", o.name, o.decision, o.reasons[0].Message)})
	}
	if j.Verdict == state.VerdictApprovalRequired {
		j.Requirements = p.merge(firm)
	}
	return j
}

// strictest is the verdict of the changes: denied before error before
// approval-required before allowed.
func strictest(outcomes []outcome) string {
	verdict := state.VerdictAllowed
	for _, o := range outcomes {
		if v := verdictOf(o.decision); severity(v) > severity(verdict) {
			verdict = v
		}
	}
	return verdict
}

func verdictOf(decision string) string {
	switch decision {
	case Allow:
		return state.VerdictAllowed
	case Approval:
		return state.VerdictApprovalRequired
	case Deny:
		return state.VerdictDenied
	default:
		return state.VerdictError
	}
}

func severity(verdict string) int {
	switch verdict {
	case state.VerdictAllowed:
		return 0
	case state.VerdictApprovalRequired:
		return 1
	case state.VerdictError:
		return 2
	default:
		return 3
	}
}

// reasons are those of the changes that have the verdict, each once.
func reasons(outcomes []outcome, verdict string) []Reason {
	var out []Reason
	for _, o := range outcomes {
		if verdictOf(o.decision) != verdict {
			continue
		}
		for _, reason := range o.reasons {
			out = addReason(out, reason)
		}
	}
	return out
}

func unplanned(objects int) string {
	if objects == 1 {
		return "1 object could not be planned"
	}
	return fmt.Sprintf("%d objects could not be planned", objects)
}
