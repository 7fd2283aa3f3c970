package policy

import "strings"

func (p *parser) readRule(f field) {
	rule := Rule{Enforce: true, Line: f.node.Line}
	places := map[string]field{}
	keep := func(key string, read func(field)) func(field) {
		return func(f field) { places[key] = f; read(f) }
	}
	p.mapping(f, keys{
		"name":      keep("name", func(f field) { rule.Name = p.text(f) }),
		"match":     keep("match", func(f field) { rule.Match = p.text(f) }),
		"decision":  keep("decision", func(f field) { rule.Decision = p.word(f, Allow, Approval, Deny) }),
		"approvers": keep("approvers", func(f field) { p.list(f, func(f field) { p.readApprovers(f, &rule) }) }),
		"reason":    func(f field) { rule.Reason = p.text(f) },
		"enforce":   func(f field) { rule.Enforce = p.boolean(f) },
	})
	for _, key := range []string{"name", "match", "decision"} {
		_, given := places[key]
		p.require(f, key, given)
	}
	p.checkRuleName(places["name"], rule.Name)
	if rule.Match != "" && !p.skim {
		p.compile(places["match"], &rule)
	}
	approvers, given := places["approvers"]
	if given && rule.Decision != "" && rule.Decision != Approval {
		p.add(approvers, "only a rule of decision approval has approvers")
	}
	if given && len(rule.Approvers) == 0 {
		p.add(approvers, "names nobody")
	}
	for i := range rule.Approvers {
		rule.Approvers[i].Rule, rule.Approvers[i].Message = rule.Name, rule.message()
	}
	p.policy.Rules = append(p.policy.Rules, rule)
}

// message is what people read: the reason of the rule, else its name.
func (r *Rule) message() string {
	if r.Reason != "" {
		return r.Reason
	}
	return "rule " + r.Name
}

func (p *parser) readApprovers(f field, rule *Rule) {
	need := Requirement{Count: 1}
	need.Who = p.subjects(f, keys{"count": func(f field) { need.Count = p.integer(f, 1) }})
	p.countReachable(f, need.Who, need.Count)
	rule.Approvers = append(rule.Approvers, need)
}

// countReachable refuses a demand for more people than are named, where all
// are named one by one.
func (p *parser) countReachable(f field, who Subjects, count int) {
	if users := len(Union(who).Users); len(who.Groups) == 0 && users > 0 && count > users {
		p.add(f, "asks for %d people, but names %d", count, users)
	}
}

func (p *parser) checkRuleName(f field, name string) {
	if f.node == nil || name == "" {
		return
	}
	if name == RuleDefault || name == RuleProtected {
		p.add(f, "%q is not free: it stands for what no rule decides", name)
	}
	if strings.Trim(name, nameRunes) != "" {
		p.add(f, "want letters, digits, '-', '_' and '.' only, got %q", name)
	}
	for _, other := range p.policy.Rules {
		if other.Name == name {
			p.add(f, "two rules are named %q", name)
			return
		}
	}
}

func (p *parser) compile(f field, rule *Rule) {
	var err error
	if p.env == nil {
		if p.env, err = newEnvironment(); err != nil {
			p.add(f, "%s", err)
			return
		}
	}
	if rule.program, err = p.env.compile(rule.Match); err != nil {
		p.add(f, "%s", err)
	}
}

func (p *parser) readFreeze(f field) {
	var freeze Freeze
	p.mapping(f, keys{
		"name":   func(f field) { freeze.Name = p.text(f) },
		"from":   func(f field) { freeze.From = p.instant(f) },
		"to":     func(f field) { freeze.To = p.instant(f) },
		"except": func(f field) { freeze.Except = p.subjects(f, nil) },
	})
	p.require(f, "name", freeze.Name != "")
	p.require(f, "from", !freeze.From.IsZero())
	p.require(f, "to", !freeze.To.IsZero())
	if !freeze.From.IsZero() && !freeze.To.IsZero() && !freeze.From.Before(freeze.To) {
		p.add(f, "from must be before to")
	}
	p.policy.Freezes = append(p.policy.Freezes, freeze)
}
