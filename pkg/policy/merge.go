package policy

import (
	"fmt"
	"slices"
)

// merge adds the requirements of the changes up, in the order of the policy's
// rules. Equal ones (the same people, the same count) become one, which keeps
// the name of the first rule.
func (p *Policy) merge(outcomes []outcome) []Requirement {
	var all []Requirement
	for _, o := range outcomes {
		all = append(all, o.needs...)
	}
	slices.SortStableFunc(all, func(a, b Requirement) int { return p.rank(a.Rule) - p.rank(b.Rule) })
	var out []Requirement
	for _, need := range all {
		if !slices.ContainsFunc(out, func(have Requirement) bool { return sameNeed(have, need) }) {
			out = append(out, need)
		}
	}
	return out
}

func sameNeed(a, b Requirement) bool {
	x, y := Union(a.Who), Union(b.Who)
	return a.Count == b.Count && slices.Equal(x.Groups, y.Groups) && slices.Equal(x.Users, y.Users)
}

// rank is the place of a rule; the default and protected come last.
func (p *Policy) rank(name string) int {
	switch name {
	case RuleDefault:
		return len(p.Rules)
	case RuleProtected:
		return len(p.Rules) + 1
	default:
		return slices.IndexFunc(p.Rules, func(r Rule) bool { return r.Name == name })
	}
}

func addReason(reasons []Reason, reason Reason) []Reason {
	if slices.Contains(reasons, reason) {
		return reasons
	}
	return append(reasons, reason)
}

// trials says what rules with enforce: false would have done to a change that
// another rule decided.
func (p *Policy) trials(o outcome) []string {
	var out []string
	for i, t := range o.tries {
		rule := p.Rules[i]
		if rule.Enforce || rule.Name == o.name {
			continue
		}
		switch {
		case t.Error != "":
			out = append(out, fmt.Sprintf("%s: %s (not enforced)", o.change.Body.Key(), failed(rule, t)))
		case t.Matched && rule.Decision != Allow:
			out = append(out, fmt.Sprintf("%s: rule %s (not enforced) says %s", o.change.Body.Key(), rule.Name, rule.Decision))
		}
	}
	return out
}
