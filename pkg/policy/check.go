package policy

// check looks at what spans keys of the spec.
func (p *parser) check() {
	q := p.policy
	p.require(p.spec, "clusterName", q.ClusterName != "")
	named := q.named()
	for _, rule := range q.Rules {
		if rule.Decision == Approval && len(rule.Approvers) == 0 && named.Empty() {
			p.problems = append(p.problems, Problem{Line: rule.Line, Path: "spec.rules: " + rule.Name,
				Message: "needs approvers: no rule names anyone who could approve"})
		}
	}
	if q.Default == Approval && named.Empty() {
		at, given := p.at["default"]
		if !given {
			at = field{node: p.spec.node, path: "spec.default"}
		}
		p.add(at, "approval, but no rule names anyone who could approve")
	}
}
