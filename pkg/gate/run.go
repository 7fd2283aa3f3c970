package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// run is one attempt to decide on one plan with one ledger.
type run struct {
	*Gate
	ledger *Ledger
	in     Input
	result Result
}

// decide is the gate step by step: judge, find or make the request, count,
// record what changed, answer.
func (r *run) decide(ctx context.Context) (*Result, error) {
	p := r.in.Plan
	_, version := r.ledger.Policy()
	r.result = Result{Plan: p, PolicyVersion: version, ChainHead: r.ledger.ChainHead(), Warnings: r.ledger.warnings()}
	err := r.checkCluster()
	if err != nil {
		return nil, err
	}
	if r.result.Judgement, err = r.judge(ctx, r.ledger, p, r.in.Header, r.in.Lane); err != nil {
		return nil, err
	}
	r.result.Enforced = r.result.Judgement.Enforced
	if p.Complete() && len(r.in.Refusals) == 0 {
		if err := r.spendDone(ctx); err != nil {
			return nil, err
		}
	}
	unvouched := r.ledger.Unvouched()
	switch {
	case unvouched != nil:
		return r.unable(ctx, *unvouched)
	case !p.Complete():
		return r.unable(ctx, policy.Reason{Reason: ReasonIncomplete, Message: fmt.Sprintf("%d of the objects could not be planned", len(p.Failed))})
	case len(r.in.Refusals) > 0:
		return r.unable(ctx, r.in.Refusals...)
	case r.result.Judgement.Verdict == state.VerdictError:
		return r.unable(ctx, r.result.Judgement.Reasons...)
	case r.result.Judgement.Verdict == state.VerdictApprovalRequired && r.ledger.attestation.Unknown && r.ledger.wantsAttested():
		return r.unable(ctx, policy.Reason{Reason: ReasonUnattestable, Message: r.ledger.warnings()[0]})
	case r.ledger.policy.SameRevision && r.in.Header.Revision == "" && r.result.Judgement.Verdict == state.VerdictApprovalRequired:
		return r.unable(ctx, policy.Reason{Reason: ReasonRevisionUnknown, Message: "policy wants approvals of one revision, and that of these manifests is unknown"})
	case p.Empty() || settled(p, r.result.Judgement):
		r.result.Verdict = Verdict{Decision: state.VerdictAllowed,
			Reasons: []policy.Reason{{Reason: ReasonUnchanged, Message: unchanged(p)}}}
		return &r.result, nil
	}
	return r.answer(ctx)
}

func unchanged(p *plan.Plan) string {
	if p.Empty() {
		return "nothing to change"
	}
	return "nothing to change but hooks that were allowed before"
}

func (r *run) checkCluster() error {
	p, _ := r.ledger.Policy()
	if c := r.in.Plan.Header.Cluster; c.UID != r.ClusterUID || c.Name != p.ClusterName {
		return &Fault{Reason: ReasonClusterMismatch, Message: fmt.Sprintf(
			"the plan is for cluster %q (%s), the records are those of %q (%s)", c.Name, c.UID, p.ClusterName, r.ClusterUID)}
	}
	return nil
}

// unable answers that nothing can be decided; nothing is recorded.
func (r *run) unable(ctx context.Context, reasons ...policy.Reason) (*Result, error) {
	r.result.Verdict = Verdict{Decision: state.VerdictError, Reasons: reasons}
	return &r.result, r.explainStale(ctx)
}

// answer decides on a complete plan that would change something.
func (r *run) answer(ctx context.Context) (*Result, error) {
	if r.undecided() {
		if result, err := r.resume(ctx); result != nil || err != nil {
			return result, err
		}
	}
	request, err := r.request(ctx)
	if err != nil {
		return nil, err
	}
	counted := r.ledger.count(request, r.result.Judgement.Requirements)
	r.result.Verdict = r.verdict(request, counted)
	request.settleAs(r.result, counted, r.ledger.superseded(request))
	if err := r.recordVerdict(ctx, request, counted); err != nil {
		return nil, err
	}
	r.result.Request = request
	if scope := request.Header.Scope; scope != r.in.Header.Scope {
		r.result.Warnings = append(r.result.Warnings, fmt.Sprintf(
			"this plan was proposed before, as %s of scope %s: it is the same request", request.ID, scope))
	}
	if r.result.Verdict.Decision == state.VerdictApprovalRequired {
		return &r.result, r.explainStale(ctx)
	}
	return &r.result, nil
}

// undecided says that nobody has decided on this very plan, and that policy lets
// it pass, if at all, on approvals; or that policy alone does, and the plan has
// no request yet.
func (r *run) undecided() bool {
	found := r.newest()
	switch {
	case r.in.Again:
		return false
	case found == nil || r.result.Judgement.Verdict != state.VerdictApprovalRequired:
		return found == nil && r.result.Judgement.Verdict != state.VerdictDenied
	}
	counted := r.ledger.count(found, r.result.Judgement.Requirements)
	return !counted.Approved && !counted.Rejected
}

// request finds the change request of this plan, or makes one: when there is
// none, when its approval was used up, or when asked to ask again.
func (r *run) request(ctx context.Context) (*Request, error) {
	found := r.newest()
	again := found != nil && r.in.Again && found.Status == Rejected
	if r.in.Only != "" && (found == nil || found.ID != r.in.Only || found.spent()) {
		return nil, r.other(found)
	}
	if found == nil || found.spent() || again {
		return r.createRequest(ctx)
	}
	switch _, _, _, err := r.Stored(ctx, *found); {
	case err == nil:
		return found, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return r.createRequest(ctx) // nobody can read what that one asks for
}

// other says that the plan at hand is not one that the named request lets pass.
func (r *run) other(found *Request) error {
	fault := &Fault{Reason: ReasonOtherRequest, Message: fmt.Sprintf("this is plan %s, which is not what %s was asked for, nor what is left of it",
		state.PlanID(r.in.Plan.Hash), r.in.Only)}
	switch {
	case found != nil && found.ID == r.in.Only:
		fault.Message = fmt.Sprintf("%s was %s before, and its approval is used up", found.ID, found.Status)
	case found != nil:
		fault.Message += ": it is that of " + found.ID
	}
	return fault
}

// newest is the request with the highest number that carries this plan, and
// can be decided on.
func (r *run) newest() *Request {
	for _, request := range slices.Backward(r.ledger.requests) {
		if request.Hash == r.in.Plan.Hash && request.Void == "" && !r.ledger.outdated(&request) && r.sameRevision(&request) {
			return &request
		}
	}
	return nil
}

// sameRevision says that an approval of a request may count for the manifests
// at hand, where policy wants approvals of one revision.
func (r *run) sameRevision(request *Request) bool {
	return !r.ledger.policy.SameRevision || request.Header.Revision == r.in.Header.Revision
}

// verdict combines what policy says with what people decided. Anything not
// known to be allowed is not.
func (r *run) verdict(request *Request, counted approval.Result) Verdict {
	judgement := r.result.Judgement
	v := Verdict{Decision: judgement.Verdict, Reasons: judgement.Reasons, Requirements: needs(judgement.Requirements, counted.Met)}
	switch {
	case judgement.Verdict == state.VerdictDenied:
	case counted.Rejected:
		v.Decision = state.VerdictDenied
		v.Reasons = []policy.Reason{{Reason: ReasonRejected, Message: rejection(counted)}}
	case judgement.Verdict == state.VerdictAllowed:
	case counted.Approved:
		v.Decision = state.VerdictAllowed
		v.Reasons = []policy.Reason{{Reason: ReasonApproved, Message: approvers(counted)}}
	default:
		v.Decision = state.VerdictApprovalRequired
		v.Reasons = []policy.Reason{missing(request, counted)}
	}
	return v
}

func missing(request *Request, counted approval.Result) policy.Reason {
	if counted.Expired {
		return policy.Reason{Reason: ReasonApprovalExpired, Message: "the approval of this plan has expired"}
	}
	return policy.Reason{Reason: ReasonApprovalMissing, Message: "this plan has not been approved: " + request.ID}
}

func needs(requirements []policy.Requirement, met []int) []Need {
	out := make([]Need, len(requirements))
	for i, requirement := range requirements {
		out[i] = Need{Requirement: requirement}
		if i < len(met) {
			out[i].Met = met[i]
		}
	}
	return out
}

// settleAs sets the status of the request that this run decided on.
func (r *Request) settleAs(result Result, counted approval.Result, superseded bool) {
	r.settleWith(counted, superseded && result.Verdict.Decision != state.VerdictAllowed)
	switch {
	case result.Judgement.Verdict == state.VerdictDenied:
		r.Status = Denied
	case result.Judgement.Verdict == state.VerdictAllowed && !counted.Rejected:
		r.Status = AutoApproved
	}
}

func approvers(counted approval.Result) string {
	by := "approved by "
	if counted.Emergency {
		by = "approved in an emergency, to be reviewed, by "
	}
	return by + people(counted, state.ActionApprove)
}

func rejection(counted approval.Result) string {
	return "rejected by " + people(counted, state.ActionReject)
}

func people(counted approval.Result, action string) string {
	names := ""
	for _, c := range counted.Checked {
		if c.Counts && c.Predicate.Action == action {
			if names != "" {
				names += ", "
			}
			names += c.Predicate.Person.Username
			if c.Predicate.Reason != "" {
				names += fmt.Sprintf(" (%s)", c.Predicate.Reason)
			}
		}
	}
	return names
}
