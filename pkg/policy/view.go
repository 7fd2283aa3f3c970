package policy

import (
	"cmp"
	"path"
	"slices"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// view is what expressions see of one plan.
type view struct {
	in     Input
	policy *Policy
	common map[string]any
}

func (p *Policy) view(in Input) *view {
	v := &view{in: in, policy: p}
	v.common = map[string]any{
		varPlan: map[string]any{"size": len(in.Plan.Changes), "reversible": in.Plan.Reversible,
			"operations": operations(in.Plan), "risks": planRisks(in.Plan),
			"revision": in.Revision, "scope": in.Plan.Scope},
		varProposer: person(in.Proposer),
		varAuthor:   person(in.Author),
	}
	return v
}

// vars are the variables for one change.
func (v *view) vars(c plan.Change) map[string]any {
	return map[string]any{
		varPlan: v.common[varPlan], varProposer: v.common[varProposer], varAuthor: v.common[varAuthor],
		varTarget: map[string]any{"cluster": v.policy.ClusterName, "applier": c.Applier},
		varChange: map[string]any{
			"operation": string(c.Body.Operation), "group": c.Body.Group, "version": c.Body.Version, "kind": c.Body.Kind,
			"namespace": c.Body.Namespace, "name": c.Body.Name, "env": v.policy.envOf(c.Body), "owner": c.Owner,
			"lane": v.lane(c), "reversible": c.Reversible, "unverified": c.Unverified != "",
			"risks": riskNames(c.Risks), "fields": fieldsOf(c.Body)},
	}
}

// lane is in which a change is made. What changeward applies itself is direct,
// whoever asks about it, and also where it was recorded long ago.
func (v *view) lane(c plan.Change) string {
	if c.Body.Applier.Manager == plan.DirectManager {
		return "direct"
	}
	return cmp.Or(v.in.Lane, "gitops")
}

// envOf is the environment of a change: that of the first envs entry with its
// namespace, else the policy's. A Namespace object lies in itself.
func (p *Policy) envOf(b plan.Body) string {
	namespace := b.Namespace
	if b.Group == "" && b.Kind == "Namespace" {
		namespace = b.Name
	}
	for _, rule := range p.Envs {
		for _, pattern := range rule.Namespaces {
			if matched, err := path.Match(pattern, namespace); err == nil && matched && namespace != "" {
				return rule.Env
			}
		}
	}
	return p.Env
}

func person(p state.Person) map[string]any {
	return map[string]any{"username": p.Username, "groups": slices.Clone(p.Groups)}
}

func riskNames(risks []plan.Risk) []string {
	names := make([]string, 0, len(risks))
	for _, risk := range risks {
		names = append(names, risk.Name)
	}
	return names
}

func planRisks(p *plan.Plan) []string {
	var names []string
	for _, c := range p.Changes {
		names = append(names, riskNames(c.Risks)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func operations(p *plan.Plan) []string {
	var names []string
	for _, c := range p.Changes {
		names = append(names, string(c.Body.Operation))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// hasRisk says whether a change carries a risk of this name.
func hasRisk(c plan.Change, name string) bool {
	return slices.ContainsFunc(c.Risks, func(r plan.Risk) bool { return r.Name == name })
}
