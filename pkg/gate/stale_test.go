package gate_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// round is one gate run: what was observed, and what the header says.
type round struct {
	observations []plan.Observation
	removals     []plan.Removal
	header       state.Plan
	ignore       []string
	whole        bool
	prune        bool
}

func (w *world) round(r round) *gate.Result {
	w.t.Helper()
	w.tick()
	p, err := plan.Build(plan.Input{Cluster: plan.Cluster{Name: "test", UID: clusterUID}, Scope: "shop", Observations: r.observations,
		Removals: r.removals, IgnorePaths: r.ignore, WholeObjects: r.whole, Prune: r.prune})
	assert.NilError(w.t, err)
	before, err := plan.Before(p, r.observations)
	assert.NilError(w.t, err)
	r.header.Scope = "shop"
	result, err := w.as(ci()).Run(context.Background(), nil, gate.Input{Plan: p, Observations: r.observations, Before: before, Header: r.header})
	assert.NilError(w.t, err)
	return result
}

// seen is ConfigMap m: what the manifest says, LIVE and MERGED, as data; "-" is
// an object that is not there.
func seen(desired, live, merged string, by ...plan.Holder) plan.Observation {
	form := func(text string) map[string]any {
		if text == "-" {
			return nil
		}
		data := map[string]any{}
		for pair := range strings.FieldsSeq(text) {
			key, value, _ := strings.Cut(pair, "=")
			data[key] = value
		}
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data,
			"metadata": map[string]any{"name": "m", "namespace": "shop"}}
	}
	o := plan.Observation{Object: object(form(desired)), Live: form(live), Merged: form(merged), Applier: applier()}
	if o.Live != nil {
		o.Live["metadata"].(map[string]any)["uid"] = "u1"
		o.Merged["metadata"].(map[string]any)["uid"] = "u1"
	}
	for _, holder := range by {
		if o.Holders == nil {
			o.Holders = map[string]plan.Holder{}
		}
		path, manager, _ := strings.Cut(holder.Manager, " ")
		o.Holders[path] = plan.Holder{Manager: manager, Time: holder.Time}
	}
	return o
}

// reasons are the differences in one line each.
func reasons(r *gate.Result) []string {
	var out []string
	for _, s := range r.Stale {
		text := s.Cause
		if s.Object != (manifest.Key{}) {
			text += " " + s.Object.Name
		}
		if s.Path != "" {
			text += " " + s.Path
		}
		text += ": " + s.Message
		if s.Manager != "" {
			text += " by " + s.Manager
		}
		out = append(out, text)
	}
	return out
}

func TestEachWayToBeStaleNamesItsCause(t *testing.T) {
	other := seen("a=1", "-", "a=1")
	other.Object.Content["metadata"].(map[string]any)["name"] = "n"
	admitted := func(list ...plan.AdmissionValue) plan.Observation {
		o := seen("a=1", "-", "a=1")
		o.Object.Content["kind"], o.Merged["kind"] = "Secret", "Secret"
		o.Admission = list
		return o
	}
	failed := func(reason string) plan.Observation {
		o := seen("a=2", "a=1", "a=2")
		o.Failure = &plan.Failure{Reason: reason, Message: "no"}
		return o
	}
	gone := plan.Removal{Key: manifest.Key{Kind: "ConfigMap", Namespace: "shop", Name: "old"}, Version: "v1",
		Live: map[string]any{"metadata": map[string]any{"uid": "u9"}}, Applier: applier(), Deletion: plan.Deletion{Propagation: "Background"}}
	update := []plan.Observation{seen("a=2", "a=1 b=1", "a=2 b=1")}
	for name, test := range map[string]struct {
		then, now round
		policy    string
		want      []string
	}{
		"another value desired": {then: round{observations: update}, now: round{observations: []plan.Observation{seen("a=3", "a=1 b=1", "a=3 b=1")}},
			want: []string{"manifests m data.a: another value is desired now"}},
		"another value in the cluster": {then: round{observations: update},
			now:  round{observations: []plan.Observation{seen("a=2", "a=0 b=1", "a=2 b=1", plan.Holder{Manager: "data.a kubectl-edit"})}},
			want: []string{"live m data.a: was changed in the cluster by kubectl-edit"}},
		"one more field desired": {then: round{observations: update}, now: round{observations: []plan.Observation{seen("a=2 b=2", "a=1 b=1", "a=2 b=2")}},
			want: []string{"manifests m data.b: was not in the approved plan"}},
		"one more field drifted": {then: round{observations: update},
			now:  round{observations: []plan.Observation{seen("a=2 b=1", "a=1 b=9", "a=2 b=1", plan.Holder{Manager: "data.b hpa"})}},
			want: []string{"live m data.b: was changed in the cluster by hpa"}},
		"admission sets one more": {then: round{observations: update}, now: round{observations: []plan.Observation{seen("a=2", "a=1 b=1", "a=2 b=1 c=x")}},
			want: []string{"admission m data.c: is set by the server now"}},
		"another server sets one more": {then: round{observations: update, header: state.Plan{Server: "v1.36.1"}},
			now:  round{observations: []plan.Observation{seen("a=2", "a=1 b=1", "a=2 b=1 c=x")}, header: state.Plan{Server: "v1.37.2"}},
			want: []string{"server m data.c: is set by the server now: the server was v1.36.1, and is v1.37.2"}},
		"admission sets another": {then: round{observations: []plan.Observation{seen("a=2", "a=1", "a=2 c=x")}},
			now:  round{observations: []plan.Observation{seen("a=2", "a=1", "a=2 c=y")}},
			want: []string{"admission m data.c: the server sets another value now"}},
		"done by someone": {then: round{observations: []plan.Observation{seen("a=2 b=2", "a=1 b=1", "a=2 b=2")}},
			now:  round{observations: []plan.Observation{seen("a=2 b=2", "a=1 b=2", "a=2 b=2"), other}},
			want: []string{"live m data.b: is as it should be already", "manifests n: was not in the approved plan"}},
		"no longer asked for": {then: round{observations: []plan.Observation{seen("a=2 b=2", "a=1 b=1", "a=2 b=2")}},
			now:  round{observations: []plan.Observation{seen("a=2 b=1", "a=1 b=1", "a=2 b=1")}},
			want: []string{"manifests m data.b: is no longer asked for"}},
		"not in the manifests": {then: round{observations: update}, now: round{observations: []plan.Observation{admitted()}},
			want: []string{"manifests m: is not in the manifests any more", "manifests m: was not in the approved plan"}},
		"two renders": {then: round{observations: update, header: state.Plan{Revision: "abc"}},
			now:  round{observations: []plan.Observation{seen("a=3", "a=1 b=1", "a=3 b=1")}, header: state.Plan{Revision: "abc"}},
			want: []string{"renders m data.a: another value is desired now: your manifests differ between two renders of revision abc"}},
		"two renders of other files": {then: round{observations: update, header: state.Plan{Revision: "abc", Sources: []string{"a"}}},
			now:  round{observations: []plan.Observation{seen("a=3", "a=1 b=1", "a=3 b=1")}, header: state.Plan{Revision: "abc", Sources: []string{"b"}}},
			want: []string{"manifests m data.a: another value is desired now"}},
		"made anew": {then: round{observations: update}, now: round{observations: []plan.Observation{seen("a=2", "-", "a=2"), other, admitted()}},
			want: []string{"live m: was to be updated, is now to be created: the object appeared, went or was made anew",
				"manifests n: was not in the approved plan", "manifests m: was not in the approved plan"}},
		"admission adds to a new object": {then: round{observations: []plan.Observation{admitted(plan.AdmissionValue{Path: "x", Value: "1"})}},
			now:  round{observations: []plan.Observation{admitted(plan.AdmissionValue{Path: "x", Value: "2"}, plan.AdmissionValue{Path: "y", Mark: plan.MarkDiffers})}},
			want: []string{"admission m x: the server sets another value now", "admission m y: the server sets another value now"}},
		"a random value now": {then: round{observations: update}, now: round{observations: []plan.Observation{random("a=2", "a=1 b=1", "a=2 b=1 c=x", "a=2 b=1 c=y")}},
			want: []string{"admission m data.c: is set to another value at each dry run"}},
		"a webhook is down": {then: round{observations: update}, now: round{observations: []plan.Observation{failed(plan.ReasonAdmission)}}, want: []string{"admission m: cannot be planned now: no"}},
		"no longer valid":   {then: round{observations: update}, now: round{observations: []plan.Observation{failed(plan.ReasonInvalid)}}, want: []string{"manifests m: cannot be planned now: no"}},
		"others write":      {then: round{observations: update}, now: round{observations: []plan.Observation{failed(plan.ReasonMoving)}}, want: []string{"live m: cannot be planned now: no"}},
		"a delete more":     {then: round{observations: update}, now: round{observations: update, removals: []plan.Removal{gone}}, want: []string{"manifests old: left the manifests"}},
		"prune is on":       {then: round{observations: update}, now: round{observations: update, prune: true}, want: []string{"settings: prune or the rules of the hash differ"}},
		"a delete done":     {then: round{observations: update, removals: []plan.Removal{gone}}, now: round{observations: update}, want: []string{"live old: is gone already, or no longer the owner's"}},
		"a path is ignored now": {then: round{observations: []plan.Observation{seen("a=2 n=2", "a=1 n=1", "a=2 n=2")}}, policy: "ignorePaths: [data.n]",
			now:  round{observations: []plan.Observation{seen("a=2 n=2", "a=1 n=1", "a=2 n=2")}, ignore: []string{"data.n"}},
			want: []string{"policy m data.n: is left out of plans now; it was approved under version 1 of the policy"}},
		"objects are bound whole": {then: round{observations: update, whole: true},
			now:  round{observations: []plan.Observation{seen("a=2", "a=1 b=7", "a=2 b=7", plan.Holder{Manager: "data.b vpa"})}, whole: true},
			want: []string{"live m data.b: was changed in the cluster, and policy binds whole objects by vpa"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			first := w.round(test.then)
			assert.Equal(t, decision(first), state.VerdictApprovalRequired)
			assert.NilError(t, w.decide(alice(w), first.Request.ID, state.ActionApprove))
			if test.policy != "" {
				w.setPolicy(policyText + "  " + test.policy + "\n")
			}
			result := w.round(test.now)
			assert.Assert(t, decision(result) != state.VerdictAllowed)
			assert.Equal(t, result.StaleRequest.ID, first.Request.ID)
			assert.DeepEqual(t, reasons(result), test.want)
		})
	}
}

func random(desired, live, merged, again string) plan.Observation {
	o, moved := plan.Twice(seen(desired, live, merged), seen(desired, live, again))
	if moved {
		panic("moved")
	}
	return o
}

func TestAPolicyThatAsksForMoreIsNamedAsTheCause(t *testing.T) {
	w := newWorld(t)
	update := round{observations: []plan.Observation{seen("a=2", "a=1", "a=2")}}
	first := w.round(update)
	assert.NilError(t, w.decide(alice(w), first.Request.ID, state.ActionApprove))
	w.setPolicy(strings.Replace(policyText, "[{users: [alice], count: 1}]", "[{users: [alice], count: 1}, {users: [bob], count: 1}]", 1))
	asked := w.round(update)
	assert.Equal(t, decision(asked), state.VerdictApprovalRequired)
	assert.Equal(t, asked.StaleRequest.ID, first.Request.ID)
	assert.DeepEqual(t, reasons(asked), []string{"policy: version 1 of the policy, under which it was approved, asked for less than version 2"})

	moved := w.round(round{observations: []plan.Observation{seen("a=3", "a=1", "a=3")}})
	assert.DeepEqual(t, reasons(moved), []string{"policy: version 1 of the policy, under which it was approved, asked for less than version 2",
		"manifests m data.a: another value is desired now"})
}

func TestWhatWasNeverApprovedOrIsDoneIsNotStale(t *testing.T) {
	w := newWorld(t)
	update := round{observations: []plan.Observation{seen("a=2", "a=1", "a=2")}}
	w.round(update)
	assert.Assert(t, w.round(round{observations: []plan.Observation{seen("a=3", "a=1", "a=3")}}).StaleRequest == nil)
	id := w.round(update).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	w.round(update)
	w.round(round{observations: []plan.Observation{seen("a=2", "a=2", "a=2")}})
	assert.Assert(t, w.round(round{observations: []plan.Observation{seen("a=3", "a=2", "a=3")}}).StaleRequest == nil)
}

func TestWhereOneRevisionIsWantedAnApprovalHoldsForNoOther(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(policyText + "  sameRevision: true\n")
	at := func(revision string) round {
		return round{observations: []plan.Observation{seen("a=2", "a=1", "a=2")}, header: state.Plan{Revision: revision}}
	}
	first := w.round(at("abc"))
	assert.NilError(t, w.decide(alice(w), first.Request.ID, state.ActionApprove))
	assert.Equal(t, decision(w.round(at("abc"))), state.VerdictAllowed)
	other := w.round(at("def"))
	assert.Equal(t, decision(other), state.VerdictApprovalRequired)
	assert.Assert(t, other.Request.Number > first.Request.Number)
	assert.DeepEqual(t, reasons(other), []string{"policy: an approval holds for one revision only: that one is for abc, this is def"})
	assert.Equal(t, decision(w.round(at("abc"))), state.VerdictAllowed, "a pending one spends nothing")

	unknown := w.round(at(""))
	assert.Equal(t, decision(unknown), state.VerdictError)
	assert.Equal(t, unknown.Verdict.Reasons[0].Reason, gate.ReasonRevisionUnknown)

	rest := w.round(round{observations: []plan.Observation{seen("a=2", "a=2", "a=2")}, header: state.Plan{Revision: "def"}})
	assert.Equal(t, decision(rest), state.VerdictAllowed)
}

func TestWhatIsLeftOfAPlanIsOfItsRevision(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(policyText + "  sameRevision: true\n")
	two := seen("b=2", "b=1", "b=2")
	for _, form := range []map[string]any{two.Object.Content, two.Live, two.Merged} {
		form["metadata"] = maps.Clone(form["metadata"].(map[string]any))
		form["metadata"].(map[string]any)["name"] = "n"
	}
	first := w.round(round{observations: []plan.Observation{seen("a=2", "a=1", "a=2"), two}, header: state.Plan{Revision: "abc"}})
	assert.NilError(t, w.decide(alice(w), first.Request.ID, state.ActionApprove))
	for revision, want := range map[string]bool{"abc": true, "def": false} {
		rest := w.round(round{observations: []plan.Observation{seen("a=2", "a=2", "a=2"), two}, header: state.Plan{Revision: revision}})
		assert.Equal(t, rest.Resumed, want, revision)
	}
}

func TestAPolicySetWhileAPlanWasMadeStopsIt(t *testing.T) {
	w := newWorld(t)
	before := w.load()
	w.tick()
	rival := flag("shop", "false", "beta")
	w.run(rival) // takes the number that the ledger thinks free
	w.setPolicy(policyText + "  ignorePaths: [data.flag]\n")
	_, err := w.as(ci()).Run(context.Background(), before, gate.Input{Plan: flag("shop", "false", "true"), Header: state.Plan{Scope: "shop"}})
	assert.Assert(t, is.ErrorContains(err, "the policy changed while this plan was made"), fmt.Sprint(err))
}
