package gate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/state"
)

// glass is a world where dave, on call, has approved a plan alone, and it has
// passed; alice could have approved it.
func glass(t *testing.T) (w *world, id string) {
	w = newWorld(t)
	w.setPolicy(policyText + "  emergency: {users: [dave, erin], review: 24h}\n")
	alice(w)
	for _, name := range []string{"dave", "erin", "mallory"} {
		w.enrollByHand(name)
	}
	id = w.run(flag("shop", "false", "true")).Request.ID
	w.tick()
	ledger := w.load()
	request, err := ledger.Find(id)
	assert.NilError(t, err)
	_, err = w.as(person("dave")).Decide(context.Background(), ledger, gate.DecideInput{Request: request, Action: state.ActionApprove,
		Emergency: true, Reason: "the shop is down", Signer: w.keys["dave"]})
	assert.NilError(t, err)
	assert.Equal(t, decision(w.run(flag("shop", "false", "true"))), state.VerdictAllowed)
	return w, id
}

func (w *world) request(id string) gate.Request {
	w.t.Helper()
	request, err := w.load().Find(id)
	assert.NilError(w.t, err)
	return request
}

func (w *world) review(who, id, reason string) error {
	w.t.Helper()
	w.tick()
	_, err := w.as(person(who)).Review(context.Background(), w.load(), w.request(id), reason, w.keys[who], false)
	return err
}

func TestAnEmergencyIsUnreviewedUntilAnotherPersonHasLookedAtIt(t *testing.T) {
	w, id := glass(t)
	now := w.request(id)
	assert.Assert(t, now.Unreviewed())
	assert.Equal(t, now.Emergency.By, "dave")
	assert.Equal(t, now.Emergency.Due, now.Emergency.At.Add(24*time.Hour))
	assert.Assert(t, !now.Emergency.Overdue(w.now) && now.Emergency.Overdue(w.now.Add(25*time.Hour)))
	for _, test := range []struct{ who, reason, want string }{
		{"dave", "I was right", approval.OwnEmergency}, {"mallory", "fine", approval.NotInGroup}, {"alice", " ", approval.ReasonMissing},
	} {
		assert.ErrorContains(t, w.review(test.who, id, test.reason), test.want)
	}
	assert.NilError(t, w.review("erin", id, "right call"))
	now = w.request(id)
	assert.Assert(t, !now.Unreviewed())
	assert.Equal(t, now.Emergency.Reviewed.Predicate.Person.Username, "erin")
	assert.ErrorContains(t, w.review("alice", id, "me, too"), "was reviewed already, by erin")
}

func TestNothingTakesTheMarkOffAnEmergencyButAReview(t *testing.T) {
	for name, act := range map[string]func(w *world, id string){
		"its approval expires":       func(w *world, _ string) { w.now = w.now.Add(100 * time.Hour) },
		"it is applied":              func(w *world, _ string) { w.run(flag("shop", "true", "true")) },
		"it is taken back":           func(w *world, id string) { assert.NilError(w.t, w.decide(person("dave"), id, state.ActionRevoke)) },
		"dave revokes his key":       func(w *world, _ string) { w.revoke("dave") },
		"dave is off call since":     func(w *world, _ string) { w.setPolicy(policyText + "  emergency: {users: [erin]}\n") },
		"nobody is on call any more": func(w *world, _ string) { w.setPolicy(policyText) },
		"a review that is forged": func(w *world, id string) {
			w.forge(state.TypeReview, "", id, w.request(id).Hash, state.Review{ClusterUID: clusterUID, Number: 1, Person: person("erin"), Reason: "ok", Time: w.stamp()},
				w.keys["mallory"], "erin", nil)
		},
		"a decision that calls itself a review": func(w *world, id string) {
			w.forge(state.TypeDecision, "", id, w.request(id).Hash, state.Decision{Action: approval.ActionReview, ClusterUID: clusterUID, Number: 1,
				Person: person("erin"), Reason: "ok", Time: w.stamp()}, w.keys["erin"], "erin", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, id := glass(t)
			w.t = t
			w.tick()
			act(w, id)
			now := w.request(id)
			assert.Assert(t, now.Unreviewed())
		})
	}
}

func (w *world) revoke(who string) {
	w.t.Helper()
	ledger := w.load()
	_, err := w.as(person(who)).RevokeKey(context.Background(), ledger, ledger.Ring().Person(who)[0].Fingerprint, "", w.keys[who])
	assert.NilError(w.t, err)
	w.tick()
}

func TestWhatEnoughPeopleApproveAsWellNeedsNoReview(t *testing.T) {
	w, id := glass(t)
	assert.NilError(t, w.decide(person("alice"), id, state.ActionApprove))
	assert.Assert(t, w.request(id).Emergency == nil)
}

func TestFreezesHoldForAllButThoseExceptedAndForEmergenciesToo(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(policyText + "  emergency: {users: [dave]}\n  freezes:\n  - {name: year-end, from: 2026-10-01T00:00:00Z, to: 2026-12-01T00:00:00Z, except: {groups: [oncall]}}\n")
	alice(w)
	p := flag("shop", "false", "true")
	frozen := w.run(p)
	assert.Equal(t, decision(frozen), state.VerdictDenied)
	assert.Assert(t, strings.Contains(frozen.Verdict.Reasons[0].Message, "only group:oncall may propose"))
	w.enrollByHand("dave")
	w.tick()
	request := w.request(frozen.Request.ID)
	_, err := w.as(person("dave")).Decide(context.Background(), w.load(), gate.DecideInput{Request: request, Action: state.ActionApprove,
		Emergency: true, Reason: "fire", Signer: w.keys["dave"]})
	assert.ErrorContains(t, err, "policy denies this plan: freeze year-end")

	excepted := person("dave", "oncall")
	again, err := w.as(excepted).Run(context.Background(), nil, gate.Input{Plan: flag("shop", "false", "beta"), Header: state.Plan{Scope: "shop"}})
	assert.NilError(t, err)
	assert.Equal(t, decision(again), state.VerdictApprovalRequired)
	assert.NilError(t, w.decide(person("alice"), again.Request.ID, state.ActionApprove))
	w.tick()
	again, err = w.as(excepted).Run(context.Background(), nil, gate.Input{Plan: flag("shop", "false", "beta"), Header: state.Plan{Scope: "shop"}})
	assert.NilError(t, err)
	assert.Equal(t, decision(again), state.VerdictAllowed)
	w.now = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	assert.Equal(t, decision(w.run(p)), state.VerdictApprovalRequired)
}
