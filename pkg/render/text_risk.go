package render

import (
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/plan"
)

// weight orders risks, the gravest first. Unknown ones come before all: this
// version cannot know how grave they are.
func weight(risk string) int { return slices.Index(plan.RiskNames(), risk) }

// gravest is the weight of the worst risk of a change.
func gravest(c plan.Change) int {
	worst := 1000
	for _, risk := range c.Risks {
		worst = min(worst, weight(risk.Name))
	}
	return worst
}

// byRisk is the changes with the riskiest first, else in the plan's order.
func byRisk(changes []plan.Change) []plan.Change {
	sorted := slices.Clone(changes)
	slices.SortStableFunc(sorted, func(a, b plan.Change) int { return gravest(a) - gravest(b) })
	return sorted
}

// finding is one risk and the changes that have it.
type finding struct {
	name    string
	objects []string
}

// findings are the risks of a plan, gravest first. Hooks have their own line.
func findings(p *plan.Plan) []finding {
	var found []finding
	for _, change := range p.Changes {
		for _, risk := range change.Risks {
			if risk.Name == plan.RiskHook {
				continue
			}
			i := slices.IndexFunc(found, func(f finding) bool { return f.name == risk.Name })
			if i < 0 {
				i = len(found)
				found = append(found, finding{name: risk.Name})
			}
			if object := affected(change, risk); !slices.Contains(found[i].objects, object) {
				found[i].objects = append(found[i].objects, object)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b finding) int { return weight(a.name) - weight(b.name) })
	return found
}

// affected is the object that has a risk, with its detail. RiskMany is about
// the plan, and stands at every change.
func affected(c plan.Change, risk plan.Risk) string {
	if risk.Name == plan.RiskMany {
		return Escape(risk.Detail)
	}
	if risk.Detail == "" {
		return Object(c.Body.Key())
	}
	return Object(c.Body.Key()) + " (" + Escape(risk.Detail) + ")"
}

// some lists the first objects of a finding.
func (f finding) some() string {
	const most = 3
	if len(f.objects) <= most {
		return strings.Join(f.objects, ", ")
	}
	return strings.Join(f.objects[:most], ", ") + ", and " + count(len(f.objects)-most, "more", "more")
}

func (l *lines) risks(p *plan.Plan) {
	for _, f := range findings(p) {
		l.line(yellow, "! "+Escape(f.name)+": "+f.some())
	}
}

// Risks is the findings of a plan alone, one line each; "" where there are
// none. It is repeated where someone is about to sign.
func (s Style) Risks(p *plan.Plan) string {
	l := &lines{style: s}
	l.hooks(p)
	l.risks(p)
	return l.out.String()
}
