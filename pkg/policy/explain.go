package policy

import (
	"fmt"
	"slices"
)

// Explain says, change by change, which rules were tried and how they went:
// the same run of the same rules as Judge.
func (p *Policy) Explain(in Input) []Explanation {
	var out []Explanation
	for _, o := range p.outcomes(in) {
		out = append(out, Explanation{Key: o.change.Body.Key(), Operation: o.change.Body.Operation,
			ChangeJudgement: p.judged(o), Tries: o.tries})
	}
	return out
}

// Warnings are what is legal in the policy but likely not meant; they are
// shown when it is set and tested.
func (p *Policy) Warnings() []string {
	var out []string
	for _, rule := range p.Rules {
		out = append(out, rule.warnings()...)
	}
	if p.Admins.Empty() {
		out = append(out, "no admins are named: changes of changeward itself (risk protected) are denied")
	}
	if p.Approvals.Identity == IdentitySigned && len(p.named().Groups) > 0 {
		out = append(out, "identity: signed proves no groups: where the API server attests none, only approvers named as users count")
	}
	if p.Approvals.Identity == IdentitySigned && p.Approvals.Enrollment == EnrollmentAttested {
		out = append(out, "identity: signed with enrollment: attested believes whoever enrolls a key in a name first: use enrollment: roster")
	}
	if p.Default == Allow {
		out = append(out, "default: allow lets everything pass that no rule names")
	}
	return out
}

func (r *Rule) warnings() []string {
	var out []string
	if !r.Enforce {
		out = append(out, fmt.Sprintf("rule %s is not enforced: what no enforced rule matches passes it", r.Name))
	}
	if r.Decision != Allow {
		return out
	}
	if !r.program.reads["risks"] {
		out = append(out, fmt.Sprintf("rule %s allows without looking at change.risks", r.Name))
	}
	if r.program.every && r.program.reads["fields"] && !r.program.reads["operation"] {
		out = append(out, fmt.Sprintf("rule %s asks whether all fields are so without looking at change.operation: that holds where there are none", r.Name))
	}
	return slices.Clip(out)
}
