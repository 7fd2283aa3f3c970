package gate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// approved puts a plan forward and has alice approve it.
func (w *world) approved(p *plan.Plan) *gate.Request {
	w.t.Helper()
	result := w.run(p)
	assert.Equal(w.t, decision(result), state.VerdictApprovalRequired)
	assert.NilError(w.t, w.decide(alice(w), result.Request.ID, state.ActionApprove))
	return result.Request
}

func TestWhatIsLeftOfAnApprovedPlanPasses(t *testing.T) {
	assigned := plan.AdmissionValue{Path: "spec.clusterIP", Mark: plan.MarkAssigned}
	for name, test := range map[string]struct{ approved, now []part }{
		"one of two is done":          {[]part{set("a", "1", "2"), set("b", "1", "2")}, []part{set("a", "2", "2"), set("b", "1", "2")}},
		"the namespace is there now":  {[]part{set("ns", "1", "2"), unchecked("d", "d:1")}, []part{set("ns", "2", "2"), made("d", "d:1")}},
		"checked, and nothing added":  {[]part{unchecked("d", "d:1")}, []part{made("d", "d:1", assigned)}},
		"checked, and empty members":  {[]part{unchecked("d", "d:1"), saying("env", nil)}, []part{made("d", "d:1"), saying("env", nil), hollow("env")}},
		"checked, and none was said":  {[]part{unchecked("d", "d:1")}, []part{made("d", "d:1"), saying("env", nil), hollow("env")}},
		"fewer are unchecked":         {[]part{unchecked("d", "d:1"), unchecked("e", "e:1")}, []part{made("d", "d:1"), unchecked("e", "e:1")}},
		"the hook is the same":        {[]part{hook("go"), set("a", "1", "2"), set("b", "1", "2")}, []part{hook("go"), set("a", "2", "2"), set("b", "1", "2")}},
		"what was deleted is gone":    {[]part{pruned("old", "gone-1"), set("a", "1", "2"), withPrune}, []part{set("a", "1", "2"), withPrune}},
		"what was created is there":   {[]part{made("d", "d:1"), set("a", "1", "2")}, []part{there("d", "d:1"), set("a", "1", "2")}},
		"deletes are left, and other": {[]part{pruned("old", "u1"), set("a", "1", "2")}, []part{pruned("old", "u1"), set("a", "2", "2")}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			request := w.approved(parts(test.approved...))
			plans, entries := w.count(state.TypePlan), w.count(state.TypeAudit)
			result := w.run(parts(test.now...))
			assert.Equal(t, decision(result), state.VerdictAllowed)
			assert.Assert(t, result.Resumed)
			assert.Equal(t, result.Request.ID, request.ID)
			assert.Equal(t, result.Verdict.Reasons[0].Reason, gate.ReasonResumed)
			assert.Assert(t, is.Contains(result.Verdict.Reasons[0].Message, "approved by alice"))
			assert.Equal(t, w.count(state.TypePlan), plans, "it takes no number")
			assert.Equal(t, w.count(state.TypeAudit), entries, "it is no later allowed plan")
			assert.Equal(t, w.count(state.TypeOutcome), 1)
			w.run(parts(test.now...))
			assert.Equal(t, w.count(state.TypeOutcome), 1, "a retry writes nothing")
			assert.Equal(t, decision(w.run(parts(test.approved...))), state.VerdictAllowed, "it spends nothing")
		})
	}
}

func TestNothingElsePassesAsWhatIsLeftOfAnApprovedPlan(t *testing.T) {
	added := plan.AdmissionValue{Path: "spec.template.spec.hostNetwork", Value: true}
	differs := plan.AdmissionValue{Path: "metadata.annotations.x", Mark: plan.MarkDiffers}
	two := []part{set("a", "1", "2"), set("b", "1", "2")}
	for name, test := range map[string]struct{ approved, now []part }{
		"one more change":               {two, []part{set("a", "2", "2"), set("b", "1", "2"), set("c", "1", "2")}},
		"one more, all else open":       {two, append(append([]part{}, two...), set("c", "1", "2"))},
		"another value":                 {two, []part{set("a", "2", "2"), set("b", "1", "3")}},
		"another value before":          {two, []part{set("a", "2", "2"), set("b", "0", "2")}},
		"one is no longer there":        {two, []part{set("b", "1", "2")}},
		"one is skipped":                {two, []part{skipped("a"), set("b", "1", "2")}},
		"another hook":                  {append([]part{hook("go")}, two...), []part{hook("drop"), set("a", "2", "2"), set("b", "1", "2")}},
		"a new hook":                    {two, []part{hook("go"), set("a", "2", "2"), set("b", "1", "2")}},
		"no hook any more":              {append([]part{hook("go")}, two...), []part{set("a", "2", "2"), set("b", "1", "2")}},
		"prune is on now":               {two, []part{set("a", "2", "2"), set("b", "1", "2"), withPrune}},
		"what was deleted is there":     {[]part{pruned("old", "u1"), set("a", "1", "2")}, []part{set("a", "1", "2")}},
		"what was deleted was made new": {[]part{pruned("old", "gone-1"), set("a", "1", "2")}, []part{pruned("old", "u2"), set("a", "1", "2")}},
		"admission adds":                {[]part{unchecked("d", "d:1")}, []part{made("d", "d:1", added)}},
		"admission draws anew":          {[]part{unchecked("d", "d:1")}, []part{made("d", "d:1", differs)}},
		"an empty member that counts":   {[]part{unchecked("d", "d:1")}, []part{made("d", "d:1"), saying("env", nil)}},
		"another beside an empty one":   {[]part{unchecked("d", "d:1")}, []part{made("d", "d:1"), saying("tty", true), saying("env", nil), hollow("env")}},
		"another object":                {[]part{unchecked("d", "d:1")}, []part{made("d", "d:2")}},
		"checked before, not now":       {[]part{made("d", "d:1"), set("a", "1", "2")}, []part{unchecked("d", "d:1"), set("a", "2", "2")}},
		"checked twice, added now":      {[]part{made("d", "d:1"), set("a", "1", "2")}, []part{made("d", "d:1", added), set("a", "2", "2")}},
		"a create of what was updated":  {[]part{set("a", "1", "2"), set("b", "1", "2")}, []part{made("a", "d:1"), set("b", "1", "2")}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.approved(parts(test.approved...))
			result := w.run(parts(test.now...))
			assert.Equal(t, decision(result), state.VerdictApprovalRequired)
			assert.Assert(t, !result.Resumed)
			assert.Equal(t, w.count(state.TypeOutcome), 0)
			assert.Equal(t, w.count(state.TypePlan), 2)
		})
	}
}

func TestWhatIsLeftPassesOnlyOnApprovalsThatHold(t *testing.T) {
	whole := parts(set("a", "1", "2"), set("b", "1", "2"))
	rest := parts(set("a", "2", "2"), set("b", "1", "2"))
	other := parts(set("a", "1", "9"))
	for name, between := range map[string]func(w *world, request *gate.Request){
		"expired":              func(w *world, _ *gate.Request) { w.now = w.now.Add(73 * time.Hour) },
		"rejected since":       func(w *world, r *gate.Request) { assert.NilError(w.t, w.decide(alice(w), r.ID, state.ActionReject)) },
		"taken back":           func(w *world, r *gate.Request) { assert.NilError(w.t, w.decide(alice(w), r.ID, state.ActionRevoke)) },
		"another one approved": func(w *world, _ *gate.Request) { w.approved(other) },
		"another one approved, and that taken back": func(w *world, _ *gate.Request) {
			assert.NilError(w.t, w.decide(alice(w), w.approved(other).ID, state.ActionRevoke))
		},
		"another one approved and allowed": func(w *world, _ *gate.Request) { w.approved(other); w.run(other) },
		"another one allowed by policy alone": func(w *world, _ *gate.Request) {
			assert.Equal(w.t, decision(w.run(create("shop", configMap("new", "1")))), state.VerdictAllowed)
		},
		"applied": func(w *world, _ *gate.Request) { w.run(parts(set("a", "2", "2"), set("b", "2", "2"))) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			request := w.approved(whole)
			between(w, request)
			result := w.run(rest)
			assert.Assert(t, decision(result) != state.VerdictAllowed, "%v", result.Verdict)
			assert.Assert(t, !result.Resumed)
		})
	}
}

func TestAnotherScopeHasNoSayInWhatIsLeft(t *testing.T) {
	w := newWorld(t)
	w.approved(parts(set("a", "1", "2"), set("b", "1", "2")))
	w.approved(flag("elsewhere", "false", "true"))
	assert.Equal(t, decision(w.run(flag("elsewhere", "false", "true"))), state.VerdictAllowed)
	assert.Assert(t, w.run(parts(set("a", "2", "2"), set("b", "1", "2"))).Resumed)

	rest := parts(set("a", "2", "2"), set("b", "1", "2"))
	rest.Scope = "third"
	assert.Equal(t, decision(w.run(rest)), state.VerdictApprovalRequired)
}

// replacing is a plan of one replace, of the Deployment that a create would
// make, and one update.
func replacing(uid string) *plan.Plan {
	p := parts(made("d", "d:1"), set("a", "1", "2"))
	bodies := []plan.Body{}
	p.Header.Changes = nil
	for _, c := range p.Changes {
		if c.Body.Operation == plan.Create {
			c.Body.Operation, c.Body.LiveUID = plan.Replace, uid
		}
		digest, err := state.DigestOf(c.Body)
		if err != nil {
			panic(err)
		}
		bodies, p.Header.Changes = append(bodies, c.Body), append(p.Header.Changes, digest)
	}
	encoded, err := state.Canonical(map[string]any{"header": p.Header, "changes": bodies})
	if err != nil {
		panic(err)
	}
	out, err := plan.Decode(encoded)
	if err != nil {
		panic(err)
	}
	out.Scope = p.Scope
	return out
}

func TestACreateStandsForAReplaceOnceTheOldObjectIsGone(t *testing.T) {
	for _, test := range []struct {
		name, uid string
		now       part
		want      bool
	}{
		{"gone", "gone-1", made("d", "d:1"), true},
		{"still there", "u1", made("d", "d:1"), false},
		{"another object", "gone-1", made("d", "d:2"), false},
		{"admission adds", "gone-1", made("d", "d:1", plan.AdmissionValue{Path: "x", Value: "y"}), false},
		{"not checked", "gone-1", unchecked("d", "d:1"), false},
	} {
		w := newWorld(t)
		w.approved(replacing(test.uid))
		assert.Equal(t, w.run(parts(test.now, set("a", "1", "2"))).Resumed, test.want, test.name)
	}
	w := newWorld(t)
	w.approved(replacing("gone-1"))
	assert.Assert(t, w.run(parts(there("d", "d:1"), set("a", "1", "2"))).Resumed, "the replace is done")
}

func TestARestThatPolicyAllowsAloneSpendsNothingEither(t *testing.T) {
	w := newWorld(t)
	whole := parts(set("a", "1", "2"), func(in *plan.Input) {
		in.Observations = append(in.Observations, plan.Observation{Object: object(configMap("new", "1")), Merged: configMap("new", "1"), Applier: applier()})
	})
	request := w.approved(whole)
	rest := w.run(parts(set("a", "2", "2"), func(in *plan.Input) {
		in.Observations = append(in.Observations, plan.Observation{Object: object(configMap("new", "1")), Merged: configMap("new", "1"), Applier: applier()})
	}))
	assert.Equal(t, rest.Request.ID, request.ID)
	assert.Assert(t, rest.Resumed)
	assert.Equal(t, decision(w.run(whole)), state.VerdictAllowed)
	assert.Equal(t, w.count(state.TypePlan), 1)
}

func TestARejectedRestStopsThoughTheWholeWasApproved(t *testing.T) {
	w := newWorld(t)
	rest := parts(set("a", "2", "2"), set("b", "1", "2"))
	pending := w.run(rest)
	w.approved(parts(set("a", "1", "2"), set("b", "1", "2")))
	assert.Assert(t, w.run(rest).Resumed)
	assert.NilError(t, w.decide(alice(w), pending.Request.ID, state.ActionReject))
	assert.Equal(t, decision(w.run(rest)), state.VerdictDenied)
}

func TestAPolicyThatAsksForMoreAsksForTheRest(t *testing.T) {
	w := newWorld(t)
	w.approved(parts(set("a", "1", "2"), set("b", "1", "2")))
	w.setPolicy(strings.Replace(policyText, "[{users: [alice], count: 1}]", "[{users: [alice], count: 1}, {users: [bob], count: 1}]", 1))
	assert.Equal(t, decision(w.run(parts(set("a", "2", "2"), set("b", "1", "2")))), state.VerdictApprovalRequired)
}

func TestAdmissionThatPolicyAllowsMayBeAddedToWhatWasNotChecked(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(strings.Replace(policyText, "rules:", `rules:
  - name: mesh
    match: change.operation == "create" && change.fields.exists(f, f.path == "metadata.labels.mesh" && f.new == "on") && change.risks.all(r, r == "image-unpinned")
    decision: allow`, 1))
	w.approved(parts(unchecked("d", "d:1"), set("a", "1", "2")))
	added := plan.AdmissionValue{Path: "metadata.labels.mesh", Value: "on"}
	assert.Assert(t, w.run(parts(made("d", "d:1", added), set("a", "1", "2"))).Resumed)
	graver := plan.AdmissionValue{Path: "spec.template.spec.hostNetwork", Value: true}
	assert.Assert(t, !w.run(parts(made("d", "d:1", added, graver), set("a", "1", "2"))).Resumed)
}

func TestAPlanWithDeletesIsDoneOnceTheObjectsAreGone(t *testing.T) {
	w := newWorld(t)
	w.approved(parts(pruned("old", "gone-1"), set("a", "1", "2")))
	w.run(parts(set("a", "2", "2")))
	assert.Equal(t, w.count(state.TypeOutcome), 1)

	other := newWorld(t)
	other.approved(parts(pruned("old", "u1"), set("a", "1", "2")))
	other.run(parts(set("a", "2", "2")))
	assert.Equal(t, other.count(state.TypeOutcome), 0)
}

func TestAClusterThatCannotBeAskedWhatIsGoneStopsTheGate(t *testing.T) {
	w := newWorld(t)
	w.approved(parts(pruned("old", "gone-1"), set("a", "1", "2")))
	g := w.as(ci())
	g.Gone = func(context.Context, plan.Body) (bool, error) { return false, errors.New("no answer") }
	_, err := g.Run(context.Background(), nil, gate.Input{Plan: parts(set("a", "2", "2")), Header: state.Plan{Scope: "shop"}})
	assert.ErrorContains(t, err, "no answer")
}

// gone knows by its name which UID is gone.
func gone(_ context.Context, b plan.Body) (bool, error) {
	return b.LiveUID == "gone-1", nil
}
