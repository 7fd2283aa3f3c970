package policy

import (
	"fmt"
	"slices"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// riskProtected marks changes of changeward's own objects and fences.
const riskProtected = "protected"

// outcome is how one change was judged, before the plan is looked at as a
// whole.
type outcome struct {
	change   plan.Change
	decision string
	rule     *Rule // nil: the default, or a check that no rule is asked for
	name     string
	env      string
	reasons  []Reason
	needs    []Requirement
	enforced bool
	settled  bool // a hook that was allowed before
	tries    []Try
}

// decide judges one change: a matching deny wins; else the first matching rule
// decides; else the default. What a rule with enforce: false says counts only
// where no enforced rule matches, so that trying out a rule opens nothing that
// another rule guards.
func (v *view) decide(c plan.Change) outcome {
	o := outcome{change: c, enforced: true, env: v.policy.envOf(c.Body)}
	if c.Body.Operation == plan.Hook && slices.Contains(v.in.SettledHooks, c.Digest) && !unbound(c.Body) {
		o.decision, o.settled = Allow, true
		return o
	}
	o.tries = v.try(c)
	v.choose(&o)
	if o.decision == Approval {
		o.needs = append(o.needs, v.policy.asks(o.rule)...)
	}
	v.guard(&o)
	return o
}

// try asks every rule about a change.
func (v *view) try(c plan.Change) []Try {
	vars := v.vars(c)
	tries := make([]Try, 0, len(v.policy.Rules))
	for _, rule := range v.policy.Rules {
		t := Try{Rule: rule.Name, Decision: rule.Decision}
		matched, err := rule.program.match(vars)
		t.Matched = matched
		if err != nil {
			t.Error = err.Error()
		}
		tries = append(tries, t)
	}
	return tries
}

// choose finds the rule that decides.
func (v *view) choose(o *outcome) {
	rules := v.policy.Rules
	for i := range rules {
		if t := o.tries[i]; rules[i].Enforce && rules[i].Decision == Deny && t.Matched {
			o.by(&rules[i], Deny, ReasonRuleDenied, rules[i].message())
			return
		}
	}
	for i := range rules {
		if t := o.tries[i]; rules[i].Enforce && rules[i].Decision == Deny && t.Error != "" {
			o.by(&rules[i], Errored, ReasonRuleError, failed(rules[i], t))
			return
		}
	}
	for i := range rules {
		if rules[i].Enforce && rules[i].Decision != Deny && v.first(o, i) {
			return
		}
	}
	if hasRisk(o.change, riskProtected) || !v.trial(o) {
		v.fallback(o)
	}
}

// first lets one enforced rule decide, if it matches and may.
func (v *view) first(o *outcome, i int) bool {
	rule, t := &v.policy.Rules[i], &o.tries[i]
	switch {
	case t.Error != "":
		o.by(rule, Errored, ReasonRuleError, failed(*rule, *t))
	case !t.Matched:
		return false
	case rule.Decision == Approval:
		o.by(rule, Approval, ReasonApprovalRequired, rule.message())
	default:
		if t.Note = v.notByAllow(o.change); t.Note != "" {
			return false
		}
		o.decision, o.rule, o.name = Allow, rule, rule.Name
	}
	return true
}

// notByAllow says why no allow may decide a change.
func (v *view) notByAllow(c plan.Change) string {
	switch {
	case hasRisk(c, riskProtected):
		return "a protected change is never decided by allow"
	case c.Unverified != "" && !v.policy.AllowUnverified:
		return "an unverified change is never decided by allow"
	default:
		return ""
	}
}

// trial lets a rule with enforce: false speak, a deny before an approval. Such
// a rule of decision allow changes nothing.
func (v *view) trial(o *outcome) bool {
	for _, decision := range []string{Deny, Approval} {
		for i := range v.policy.Rules {
			rule := &v.policy.Rules[i]
			if rule.Enforce || rule.Decision != decision || !o.tries[i].Matched {
				continue
			}
			reason := ReasonRuleDenied
			if decision == Approval {
				reason = ReasonApprovalRequired
			}
			o.by(rule, decision, reason, rule.message())
			o.enforced = false
			return true
		}
	}
	return false
}

// fallback is the policy's default, for what no rule decides.
func (v *view) fallback(o *outcome) {
	o.name = RuleDefault
	switch note := v.notByAllow(o.change); {
	case v.policy.Default == Deny:
		o.by(nil, Deny, ReasonRuleDenied, "no rule allows it")
	case v.policy.Default == Allow && (note == "" || hasRisk(o.change, riskProtected)):
		o.decision = Allow // guard asks the admins where it is protected
	default:
		o.by(nil, Approval, ReasonApprovalRequired, "no rule decides it")
	}
}

// guard adds what holds whatever the rules say: Secret values that no hash
// binds, and changes of changeward itself.
func (v *view) guard(o *outcome) {
	p := v.policy
	if o.change.Unverified != "" && !p.AllowUnverified && o.passedOver() {
		o.because(ReasonUnverified, fmt.Sprintf("%s: %s", o.change.Body.Key(), o.change.Unverified))
	}
	if hasRisk(o.change, riskProtected) && o.decision != Deny && o.decision != Errored {
		o.decision = Approval
		need := Requirement{Rule: RuleProtected, Who: p.Admins.Subjects, Count: p.Admins.Count,
			Message: "changes of changeward itself need its admins"}
		o.needs = append(o.needs, need)
		o.because(ReasonProtected, need.Message)
	}
	if !p.AllowUnboundSecrets && unbound(o.change.Body) {
		o.refuse(ReasonUnboundSecret, fmt.Sprintf("%s: the digest key could not be read, so no approval can bind the Secret's values", o.change.Body.Key()))
	}
	for _, need := range o.needs {
		if o.decision == Approval && need.Who.Empty() {
			o.refuse(ReasonNoApprover, fmt.Sprintf("%s: the policy names nobody to approve it (%s)", o.change.Body.Key(), need.Rule))
		}
	}
}

// passedOver says that an allow rule matched and could not decide.
func (o *outcome) passedOver() bool {
	return slices.ContainsFunc(o.tries, func(t Try) bool { return t.Note != "" })
}

func (o *outcome) by(rule *Rule, decision, reason, message string) {
	o.rule, o.decision = rule, decision
	if rule != nil {
		o.name = rule.Name
	}
	o.because(reason, message)
}

func (o *outcome) because(reason, message string) {
	o.reasons = append(o.reasons, Reason{Reason: reason, Message: message})
}

// refuse denies a change in spite of the rules.
func (o *outcome) refuse(reason, message string) {
	o.decision, o.enforced, o.needs = Deny, true, nil
	o.reasons = []Reason{{Reason: reason, Message: message}}
}

// asks are the requirements of an approval rule; those of the default where it
// names nobody, or is nil.
func (p *Policy) asks(rule *Rule) []Requirement {
	if rule != nil && len(rule.Approvers) > 0 {
		return rule.Approvers
	}
	need := Requirement{Rule: RuleDefault, Who: p.named(), Count: 1, Message: "no rule decides it"}
	if rule != nil {
		need.Rule, need.Message = rule.Name, rule.message()
	}
	return []Requirement{need}
}

func failed(rule Rule, t Try) string {
	return fmt.Sprintf("rule %s could not be evaluated: %s", rule.Name, t.Error)
}

// unbound says whether a change carries a Secret value that its digest cannot
// tell from another.
func unbound(b plan.Body) bool {
	values := []any{b.Object}
	for _, t := range b.Transitions {
		values = append(values, t.Old, t.New)
	}
	for _, added := range b.Admission {
		values = append(values, added.Value)
	}
	if b.Delete != nil {
		values = append(values, b.Delete.Fields)
	}
	return slices.ContainsFunc(values, unboundValue)
}

func unboundValue(value any) bool {
	switch v := value.(type) {
	case state.Masked:
		return v.Unbound
	case map[string]any:
		for _, member := range v {
			if unboundValue(member) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, unboundValue)
	}
	return false
}
