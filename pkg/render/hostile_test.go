package render

import (
	"bytes"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

func TestNoOutputCarriesWhatCouldDeceive(t *testing.T) {
	for _, s := range hostileStrings() {
		view, result := hostileView(s), hostileResult(s)
		for _, style := range []Style{{Program: "x"}, {Full: true}} {
			assertSafe(t, style.Gate(view, result))
			assertSafe(t, style.Plan(view))
			assertSafe(t, style.Risks(view.Plan))
			assertSafe(t, style.Request(*result.Request))
			assertSafe(t, style.Markdown(Comment{View: view, Result: result}))
			assertSafe(t, style.Policy(policy.Judgement{Verdict: state.VerdictApprovalRequired, Warnings: []string{s},
				Reasons: []policy.Reason{{Reason: s, Message: s}}, Requirements: []policy.Requirement{result.Verdict.Requirements[0].Requirement}}))
			assertSafe(t, style.Failure([]string{s, s + "\n" + s}, []string{s}))
		}
		assertSafe(t, Requests([]gate.Request{*result.Request}, time.Unix(0, 0)))
		assertSafe(t, Table([]string{"A", "B"}, [][]string{{s, s}}))
		assertSafe(t, ErrorComment([]string{s}, []string{s}))
		for _, document := range []any{GateDocument(view, result), PlanResultDocument(view, &policy.Judgement{}),
			RequestDocument(*result.Request, &view), RequestListDocument([]gate.Request{*result.Request})} {
			var out bytes.Buffer
			assert.NilError(t, JSON(&out, document))
			assertSafe(t, out.String())
		}
	}
}

// hostileView is a plan that carries s wherever a string fits.
func hostileView(s string) PlanView {
	p := richPlan()
	p.Scope, p.Namespaces, p.Warnings = s, []string{s}, []string{s}
	p.Header.Cluster = plan.Cluster{Name: s, UID: s}
	for i := range p.Changes {
		poison(&p.Changes[i], s)
	}
	for i := range p.Failed {
		p.Failed[i] = plan.Failed{Key: manifest.Key{Group: s, Kind: s, Namespace: s, Name: s}, Version: s, Source: manifest.Source{File: s, Line: 1},
			Failure: plan.Failure{Reason: s, Message: s + "\n" + s, Conflicts: []plan.Conflict{{Path: s, Manager: s, New: s}}}}
	}
	judged := make([]policy.ChangeJudgement, len(p.Changes))
	for i := range judged {
		judged[i] = policy.ChangeJudgement{Rule: s, Env: s, Message: s}
	}
	return PlanView{Plan: p, Judged: judged, Target: s, ShowUnchanged: true}
}

func poison(c *plan.Change, s string) {
	b := &c.Body
	b.Group, b.Version, b.Kind, b.Namespace, b.Name = s, s, s, s, s
	b.Applier = plan.HashedApplier{Mode: s, Manager: s}
	b.Phases, b.LiveUID = []string{s}, s
	deep := map[string]any{s: []any{s, map[string]any{s: s + "\n" + s}}}
	for _, action := range []diff.Action{diff.Add, diff.Change, diff.Remove, diff.Order} {
		b.Transitions = append(b.Transitions, diff.Transition{Path: s, Action: action, Old: s, New: s + "\n" + s},
			diff.Transition{Path: s, Action: action, Old: deep, New: []any{s}}, diff.Transition{Path: s, Action: action, Old: s, New: s})
	}
	b.TakesOver = []plan.Takeover{{Manager: s, Path: s}}
	b.Admission = []plan.AdmissionValue{{Path: s, Value: deep}, {Path: s, Mark: s}, {Path: s, Mark: "differs"}}
	if b.Object != nil {
		b.Object = deep
	}
	if b.Delete != nil {
		b.Delete = &plan.Deletion{Propagation: s, Guards: map[string]string{s: s}, Fields: deep, Contents: map[string]int{s: 1}, Volumes: []string{s}}
	}
	c.Applier, c.Source, c.Why, c.Unverified, c.Owner = s, manifest.Source{File: s}, s, s, s
	c.Risks, c.Notes = []plan.Risk{{Name: s, Detail: s}}, []string{s}
}

func hostileResult(s string) *gate.Result {
	r := storyResult()
	r.Warnings, r.ChainHead = []string{s}, s
	r.Verdict.Reasons = []policy.Reason{{Reason: s, Message: s}}
	r.Verdict.Requirements[0].Requirement = policy.Requirement{Rule: s, Who: policy.Subjects{Groups: []string{s}, Users: []string{s}}, Count: 2, Message: s}
	r.StaleRequest = &gate.Request{ID: s}
	r.Stale = []gate.Stale{{Cause: s, Object: manifest.Key{Kind: s, Name: s}, Path: s, Manager: s, Message: s}}
	q := r.Request
	q.ID, q.Status, q.SignedBy, q.Void, q.Detail = s, gate.Status(s), s, s, s
	person := state.Person{Username: s, Groups: []string{s}}
	q.Header = state.Plan{Author: &state.Author{Name: s}, CI: s, Proposer: person, Reason: s, Revision: s, Scope: s, Sources: []string{s}, Target: s, Ticket: s}
	for _, counts := range []bool{true, false} {
		q.Decisions = append(q.Decisions, approval.Checked{Counts: counts, Reason: s, Decision: approval.Decision{Fingerprint: s, Detail: s,
			Record: state.Record{Name: s}, Predicate: state.Decision{Action: s, Person: person, Reason: s, Ticket: s, Time: s}}})
	}
	q.Outcomes = []state.Outcome{{Result: s, Actor: person, Time: s, Revision: s, Objects: []state.ObjectResult{
		{Group: s, Version: s, Kind: s, Namespace: s, Name: s, Result: s, Reason: s, Fields: []string{s}, Managers: []string{s}}}}}
	return r
}
