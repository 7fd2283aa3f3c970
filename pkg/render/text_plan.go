package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// Plan is a plan as text: hooks, the plan line, risks, changes with the
// riskiest first, notes, and what could not be planned.
func (s Style) Plan(view PlanView) string {
	l := &lines{style: s}
	l.hooks(view.Plan)
	l.line(bold, s.headline(view))
	l.risks(view.Plan)
	for _, change := range byRisk(view.Plan.Changes) {
		if change.Body.Operation != plan.Hook || s.Full {
			l.change(change)
		}
	}
	for _, change := range view.Plan.Unchanged {
		l.unchanged(change, view.ShowUnchanged)
	}
	for _, warning := range view.Plan.Warnings {
		l.line(yellow, "note: "+Escape(warning))
	}
	l.failures(view.Plan)
	return l.out.String()
}

func (l *lines) hooks(p *plan.Plan) {
	var hooks []string
	for _, change := range p.Changes {
		if change.Body.Operation == plan.Hook {
			phases := cmp.Or(strings.Join(change.Body.Phases, ", "), "no phase that is known")
			hooks = append(hooks, fmt.Sprintf("%s (%s)", Object(change.Body.Key()), Escape(phases)))
		}
	}
	if len(hooks) > 0 {
		l.line(plain, count(len(hooks), "hook", "hooks")+
			" (Argo CD and Helm hooks are not compared with live objects): "+strings.Join(hooks, ", "))
	}
}

// unchanged is an object that stays as it is: listed where the applier leaves
// it alone, where there is something to say about it, or on demand.
func (l *lines) unchanged(c plan.Change, demanded bool) {
	switch {
	case c.Skipped != "":
		l.line(plain, "= "+Object(c.Body.Key())+" (left alone: "+Escape(c.Skipped)+")")
	case demanded || len(c.Notes) > 0:
		l.line(faint, "= "+Object(c.Body.Key())+" (unchanged)")
	}
	for _, note := range c.Notes {
		l.line(faint, indent+"note: "+Escape(note))
	}
}

// headline is the plan line.
func (s Style) headline(view PlanView) string {
	p := view.Plan
	summary := p.Summary()
	objects := len(p.Changes) - summary.Hook
	parts := []string{"plan " + state.PlanID(p.Hash), view.where(), reversibility(p), count(objects, "object", "objects")}
	if summary.Error > 0 {
		parts = append(parts, "incomplete: "+count(summary.Error, "problem", "problems"))
	}
	if n := len(p.Header.Unverified); n > 0 {
		parts = append(parts, fmt.Sprintf("%d unverified", n))
	}
	parts = append(parts, "server-side dry run")
	if p.Header.Cluster.Name == "" {
		parts = append(parts, "no install, not approvable")
	}
	return strings.Join(parts, " · ")
}

// where is the target and its environments: cluster (prod).
func (v PlanView) where() string {
	target := Escape(cmp.Or(v.Target, v.Plan.Header.Cluster.Name, "cluster"))
	var envs []string
	for _, judged := range v.Judged {
		if judged.Env != "" && !slices.Contains(envs, judged.Env) {
			envs = append(envs, judged.Env)
		}
	}
	if len(envs) == 0 && v.Env != "" {
		envs = append(envs, v.Env)
	}
	if len(envs) == 0 {
		return target
	}
	slices.Sort(envs)
	return target + " (" + Escape(strings.Join(envs, ", ")) + ")"
}

func reversibility(p *plan.Plan) string {
	if p.Reversible {
		return "reversible"
	}
	return "not reversible"
}

// failedName is what could not be planned: a document may lack a kind.
func failedName(f plan.Failed) string {
	if f.Key.Kind == "" {
		return Escape(f.Source.String())
	}
	return Object(f.Key)
}

func (l *lines) failures(p *plan.Plan) {
	for _, failed := range p.Failed {
		l.line(red, "✗ "+failedName(failed)+" ("+Escape(failed.Reason)+")")
		l.block(plain, "     ", Escape(failed.Source.String()+": ")+EscapeBlock(failed.Message))
		for _, c := range failed.Conflicts {
			l.line(plain, fmt.Sprintf("     %s: held by %s, would become %s", Escape(c.Path), Quote(c.Manager), l.style.inline(c.New)))
		}
	}
}
