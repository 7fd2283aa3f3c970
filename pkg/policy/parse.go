package policy

import (
	"path"
	"time"

	"go.yaml.in/yaml/v3"
)

// APIVersion of policies and of their test files.
const APIVersion = "changeward.dev/v1alpha1"

const defaultExpiry = 72 * time.Hour

// maxSource bounds what Parse reads: a policy is text that people review.
const maxSource = 256 << 10

// parser fills a Policy, and remembers where its parts stand for the checks
// that span keys.
type parser struct {
	reader
	policy *Policy
	env    *environment // nil until a rule needs it: it is costly to make
	skim   bool
	spec   field
	at     map[string]field // places that later checks point at
}

// Parse reads a policy: strict YAML, every key known, every expression
// compiled, type-checked and of bounded cost. The error is Problems: all that
// is wrong, at once, each with line and path.
func Parse(source []byte) (*Policy, error) {
	p := &parser{at: map[string]field{}, policy: defaults()}
	return p.parse(source)
}

// Skim reads all of a policy but compiles no rule, so that it can judge
// nothing: earlier versions are asked only for their settings. Errors are those
// of Parse.
func Skim(source []byte) (*Policy, error) {
	p := &parser{at: map[string]field{}, policy: defaults(), skim: true}
	return p.parse(source)
}

func (p *parser) parse(source []byte) (*Policy, error) {
	if len(source) > maxSource {
		return nil, Problems{{Message: "a policy is at most 256 KiB"}}
	}
	root, ok := p.document(source)
	if !ok {
		return nil, p.problems.orNil()
	}
	p.header(root, "Policy", keys{"spec": p.readSpec})
	if p.spec.node == nil {
		p.add(field{node: root.node, path: "spec"}, "missing")
	} else {
		p.check()
	}
	if err := p.problems.orNil(); err != nil {
		return nil, err
	}
	return p.policy, nil
}

func defaults() *Policy {
	return &Policy{Enforce: true, Default: Approval, Staleness: StalenessFields, Admins: Admins{Count: 1},
		Approvals: Approvals{ExpireAfter: defaultExpiry, NotProposer: true, UnknownAuthor: AuthorShow,
			Identity: IdentityBoth, Enrollment: EnrollmentAttested},
		Emergency: Emergency{Review: defaultExpiry}}
}

func (p *parser) readSpec(spec field) {
	p.spec = spec
	q := p.policy
	p.mapping(spec, keys{
		"clusterName":         func(f field) { q.ClusterName = p.text(f) },
		"aliases":             func(f field) { q.Aliases = p.texts(f) },
		"env":                 func(f field) { q.Env = p.text(f) },
		"envs":                func(f field) { p.list(f, p.readEnv) },
		"enforce":             func(f field) { q.Enforce = p.boolean(f) },
		"proposers":           func(f field) { q.Proposers = p.subjects(f, nil) },
		"auditors":            func(f field) { q.Auditors = p.subjects(f, nil) },
		"admins":              p.readAdmins,
		"rules":               func(f field) { p.list(f, p.readRule) },
		"default":             func(f field) { p.at["default"] = f; q.Default = p.word(f, Allow, Approval, Deny) },
		"approvals":           p.readApprovals,
		"emergency":           p.readEmergency,
		"freezes":             func(f field) { p.list(f, p.readFreeze) },
		"requireTicket":       func(f field) { q.Approvals.RequireTicket = p.boolean(f) },
		"staleness":           func(f field) { q.Staleness = p.word(f, StalenessFields, StalenessObject) },
		"sameRevision":        func(f field) { q.SameRevision = p.boolean(f) },
		"ignorePaths":         func(f field) { q.IgnorePaths = p.paths(f) },
		"maxDeletes":          p.readMaxDeletes,
		"allowUnverified":     func(f field) { q.AllowUnverified = p.boolean(f) },
		"allowUnboundSecrets": func(f field) { q.AllowUnboundSecrets = p.boolean(f) },
		"expires":             func(f field) { q.Expires = p.instant(f) },
	})
}

// subjects reads {groups, users} and the members that stand beside them.
func (p *parser) subjects(f field, beside keys) Subjects {
	var s Subjects
	members := keys{
		"groups": func(f field) { s.Groups = p.texts(f) },
		"users":  func(f field) { s.Users = p.texts(f) },
	}
	for key, read := range beside {
		members[key] = read
	}
	p.mapping(f, members)
	if f.node.Kind == yaml.MappingNode && s.Empty() {
		p.add(f, "names nobody: want groups or users")
	}
	return s
}

func (p *parser) readAdmins(f field) {
	admins := &p.policy.Admins
	admins.Subjects = p.subjects(f, keys{"count": func(f field) { admins.Count = p.integer(f, 1) }})
	p.countReachable(f, admins.Subjects, admins.Count)
}

func (p *parser) readEmergency(f field) {
	emergency := &p.policy.Emergency
	emergency.Subjects = p.subjects(f, keys{"review": func(f field) { emergency.Review = p.duration(f) }})
}

func (p *parser) readApprovals(f field) {
	a := &p.policy.Approvals
	p.mapping(f, keys{
		"expireAfter":   func(f field) { a.ExpireAfter = p.duration(f) },
		"notProposer":   func(f field) { a.NotProposer = p.boolean(f) },
		"unknownAuthor": func(f field) { a.UnknownAuthor = p.word(f, AuthorShow, AuthorRefuse) },
		"identity":      func(f field) { a.Identity = p.word(f, IdentityBoth, IdentitySigned, IdentityAttested) },
		"enrollment":    func(f field) { a.Enrollment = p.word(f, EnrollmentAttested, EnrollmentRoster) },
		"requireReason": func(f field) { a.RequireReason = p.boolean(f) },
		"requireTicket": func(f field) { a.RequireTicket = p.boolean(f) },
	})
}

func (p *parser) readEnv(f field) {
	var rule EnvRule
	p.mapping(f, keys{
		"env":        func(f field) { rule.Env = p.text(f) },
		"namespaces": func(f field) { p.list(f, func(f field) { rule.Namespaces = append(rule.Namespaces, p.glob(f)) }) },
	})
	p.require(f, "env", rule.Env != "")
	p.require(f, "namespaces", len(rule.Namespaces) > 0)
	p.policy.Envs = append(p.policy.Envs, rule)
}

func (p *parser) glob(f field) string {
	pattern := p.text(f)
	if _, err := path.Match(pattern, ""); err != nil {
		p.add(f, "bad pattern %q", pattern)
	}
	return pattern
}

func (p *parser) readMaxDeletes(f field) {
	limit := &p.policy.MaxDeletes
	p.mapping(f, keys{
		"count": func(f field) { limit.Count, limit.HasCount = p.integer(f, 0), true },
		"share": func(f field) {
			if err := f.node.Decode(&limit.Share); err != nil || !(limit.Share > 0 && limit.Share <= 1) {
				p.add(f, "want a number above 0 and at most 1, got %s", describe(f.node))
			}
		},
	})
	if f.node.Kind == yaml.MappingNode && len(f.node.Content) == 0 {
		p.add(f, "limits nothing: want count or share")
	}
}
