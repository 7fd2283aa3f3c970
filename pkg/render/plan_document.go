package render

import (
	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// PlanView is a plan with what only its reader needs to know.
type PlanView struct {
	Plan *plan.Plan
	// Judged says per change how policy judged it, in the order of
	// Plan.Changes; nil without an install.
	Judged []policy.ChangeJudgement
	// Target is the alias that the caller used; "" falls back to the
	// cluster's name, then to "cluster".
	Target string
	// Env is the policy's environment, for plans without a judged change.
	Env string
	// ShowUnchanged lists objects that would not change.
	ShowUnchanged bool
}

// env of the i-th change, "" without an install.
func (v PlanView) env(i int) string {
	if i >= len(v.Judged) {
		return ""
	}
	return v.Judged[i].Env
}

// PlanDocument is the JSON form of a plan.
func PlanDocument(view PlanView) Plan {
	p := view.Plan
	document := Plan{
		ID: state.PlanID(p.Hash), Hash: p.Hash, Complete: p.Complete(), Reversible: p.Reversible,
		Scope: p.Scope, Cluster: p.Header.Cluster, Namespaces: list(p.Namespaces), Prune: p.Header.Prune,
		Summary: p.Summary(), Changes: []Change{}, Errors: []Problem{}, Notes: p.Warnings,
	}
	for i, change := range p.Changes {
		document.Changes = append(document.Changes, changeDocument(change, view.env(i)))
	}
	for _, change := range p.Unchanged {
		if view.ShowUnchanged || change.Skipped != "" || len(change.Notes) > 0 {
			document.Changes = append(document.Changes, changeDocument(change, ""))
		}
	}
	for _, failed := range p.Failed {
		document.Errors = append(document.Errors, Problem{
			Group: failed.Key.Group, Kind: failed.Key.Kind, Namespace: failed.Key.Namespace, Name: failed.Key.Name,
			Source: failed.Source.String(), Reason: failed.Reason, Message: failed.Message,
		})
	}
	return document
}

func changeDocument(c plan.Change, env string) Change {
	body := c.Body
	document := Change{
		Operation: body.Operation, Group: body.Group, Version: body.Version, Kind: body.Kind,
		Namespace: body.Namespace, Name: body.Name, Env: env, Digest: c.Digest,
		Reversible: c.Reversible, Irreversible: c.Why,
		Unverified: c.Unverified != "", UnverifiedReason: c.Unverified, Skipped: c.Skipped,
		Risks: list(c.Risks), Source: c.Source.String(), Phases: body.Phases,
		Applier: plan.Applier{Name: c.Applier, Mode: body.Applier.Mode, Manager: body.Applier.Manager, Force: body.Applier.Force},
		Object:  plan.Shown(body.Object), TakesOver: body.TakesOver, Notes: list(c.Notes),
	}
	if c.Owner != "" {
		document.Owner = &c.Owner
	}
	for _, transition := range body.Transitions {
		document.Fields = append(document.Fields, fieldDocument(transition))
	}
	for _, added := range body.Admission {
		added.Value = plan.Shown(added.Value)
		document.Admission = append(document.Admission, added)
	}
	if d := body.Delete; d != nil {
		document.Object = plan.Shown(d.Fields)
		document.Deletion = &Deletion{Propagation: d.Propagation, Guards: d.Guards, Contents: d.Contents, Wanted: d.Wanted,
			Volumes: d.Volumes, Claims: d.Claims}
	}
	return document
}

func fieldDocument(t diff.Transition) Field {
	field := Field{Path: t.Path, Action: string(t.Action)}
	if t.Action != diff.Add {
		old := plan.Shown(t.Old)
		field.Old = &old
	}
	if t.Action != diff.Remove {
		now := plan.Shown(t.New)
		field.New = &now
	}
	return field
}

// list is a slice that JSON writes as [] where it is empty.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
