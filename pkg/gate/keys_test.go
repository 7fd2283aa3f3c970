package gate_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/pkg/trust"
	"github.com/changeward/changeward/state"
)

func TestARevokedKeyVoidsItsApprovalsAtOnce(t *testing.T) {
	for _, test := range []struct {
		name, by, reason, err string
	}{
		{"by its owner", "alice", "", ""},
		{"by an admin", "root", "laptop stolen", ""},
		{"by an admin without a reason", "root", "", "a reason is required"},
		{"by nobody else", "mallory", "I want to", "is no admin"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.enrollByHand("mallory")
			p := flag("shop", "false", "true")
			id := w.run(p).Request.ID
			assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
			ledger := w.load()
			who := person(test.by)
			if test.by == "root" {
				who.Groups = []string{"admins"}
			}
			_, err := w.as(who).RevokeKey(context.Background(), ledger, ledger.Ring().Person("alice")[0].Fingerprint, test.reason, w.keys[test.by])
			if test.err != "" {
				assert.ErrorContains(t, err, test.err)
				assert.Equal(t, decision(w.run(p)), state.VerdictAllowed)
				return
			}
			assert.NilError(t, err)
			result := w.run(p)
			assert.Equal(t, decision(result), state.VerdictApprovalRequired)
			assert.Equal(t, result.Request.Decisions[0].Reason, approval.KeyRevoked)
			w.tick()
			_, err = w.as(person("alice")).Enroll(context.Background(), w.load(), w.keys["alice"], nil, nil)
			assert.ErrorContains(t, err, "never returns")
		})
	}
}

func TestAFurtherKeyIsSignedForByAnEarlierOneOrAnAdmin(t *testing.T) {
	for _, test := range []struct{ name, by, err string }{
		{"its owner, from the other machine", "alice", ""}, {"an admin", "root", ""}, {"nobody else", "mallory", "is no admin"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			me := alice(w)
			w.enrollByHand("mallory")
			second := newKey(t)
			w.tick()
			_, err := w.as(me).Enroll(context.Background(), w.load(), second, nil, []string{"github:alice"})
			assert.NilError(t, err)
			w.tick()
			ledger := w.load()
			who := person(test.by)
			if test.by == "root" {
				who.Groups = []string{"admins"}
			}
			_, err = w.as(who).Countersign(context.Background(), ledger, ledger.Asked()[0].Fingerprint, w.keys[test.by])
			if test.err != "" {
				assert.ErrorContains(t, err, test.err)
				return
			}
			assert.NilError(t, err)
			ledger = w.load()
			assert.Equal(t, len(ledger.Ring().Person("alice")), 2)
			assert.DeepEqual(t, ledger.Ring().Logins("alice"), []string{"github:alice"})
			assert.Equal(t, len(ledger.Asked()), 0)
		})
	}
}

// listed sets a roster of these people's keys, as root.
func (w *world) listed(expires string, people ...string) {
	w.t.Helper()
	w.tick()
	next := trust.Roster{Expires: expires}
	for _, name := range people {
		next.Keys = append(next.Keys, state.RosterKey{Person: name, PublicKey: sign.AuthorizedKey(w.keys[name].PublicKey())})
	}
	_, err := w.as(person("root", "admins")).SetRoster(context.Background(), w.load(), next, w.keys["root"], false)
	assert.NilError(w.t, err)
	w.tick()
}

func TestWherePolicyAsksForARosterOnlyKeysOnItCount(t *testing.T) {
	w := newWorld(t)
	w.enrollByHand("carol")
	w.keys["alice"] = newKey(t) // not enrolled
	text := strings.Replace(strings.Replace(policyText, "identity: signed", "identity: signed, enrollment: roster", 1), "users: [alice]", "users: [alice, carol]", 1)
	_, err := w.as(person("root", "admins")).SetPolicy(context.Background(), w.load(), text, w.keys["root"], false)
	assert.ErrorContains(t, err, "there is none yet")
	w.listed("2026-11-02T00:00:00Z", "root", "alice")
	w.setPolicy(text)
	p := flag("shop", "false", "true")
	id := w.run(p).Request.ID
	assert.ErrorContains(t, w.decide(person("carol"), id, state.ActionApprove), approval.NotOnRoster)
	assert.NilError(t, w.decide(person("alice"), id, state.ActionApprove))
	assert.Equal(t, decision(w.run(p)), state.VerdictAllowed)

	w.listed("2026-11-02T00:00:00Z", "root", "carol")
	result := w.run(p)
	assert.Equal(t, decision(result), state.VerdictApprovalRequired)
	assert.Equal(t, result.Request.Decisions[0].Reason, approval.NotOnRoster)
	w.listed("2026-11-02T00:00:00Z", "root", "alice")
	assert.Equal(t, w.run(p).Request.Decisions[0].Reason, approval.KeyNotYetValid, "off the list, and on it again")
	assert.NilError(t, w.decide(person("alice"), id, state.ActionApprove))
	assert.Equal(t, decision(w.run(p)), state.VerdictAllowed)
	w.now = w.now.Add(20 * time.Hour)
	result = w.run(p)
	assert.Equal(t, decision(result), state.VerdictApprovalRequired)
	assert.Assert(t, slices.ContainsFunc(result.Request.Decisions, func(d approval.Checked) bool { return d.Reason == approval.RosterExpired }))
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string(nil)) // each entry holds by the roster of its time
}

func TestAnOlderRosterDoesNotComeBack(t *testing.T) {
	w := newWorld(t)
	alice(w)
	w.listed("", "root", "alice")
	w.listed("", "root")
	root := person("root", "admins")
	old, err := w.store.Get(context.Background(), state.TypeRoster, state.NumberedName(state.TypeRoster, 1))
	assert.NilError(t, err)
	w.putRaw(state.TypeRoster, state.NumberedName(state.TypeRoster, 3), old.Data[state.DataEnvelope], root)
	ledger := w.load()
	roster, version := ledger.Roster()
	assert.Equal(t, version, 2)
	assert.Equal(t, len(roster.Keys), 1)
	assert.DeepEqual(t, rejected(ledger), []string{"cw-roster-000003 " + trust.ReasonNotEntitled})
	assert.NilError(t, w.store.Delete(context.Background(), state.TypeRoster, state.NumberedName(state.TypeRoster, 1)))
	assert.Equal(t, w.loadFault(), gate.ReasonRosterUnreadable)
}

func TestForgeLoginsHoldForEveryKeyOfAPerson(t *testing.T) {
	w := newWorld(t)
	me := alice(w)
	second := newKey(t)
	w.tick()
	_, err := w.as(me).Enroll(context.Background(), w.load(), second, w.keys["alice"], nil)
	assert.NilError(t, err)
	w.tick()
	_, err = w.as(me).Enroll(context.Background(), w.load(), w.keys["alice"], nil, []string{"github:alice-gh"})
	assert.NilError(t, err)
	w.tick()
	p := flag("shop", "false", "true")
	result, err := w.as(ci()).Run(context.Background(), nil, gate.Input{Plan: p, Header: state.Plan{Scope: "shop", Author: &state.Author{Name: "Alice-GH", Claimed: true}}})
	assert.NilError(t, err)
	w.keys["alice"] = second
	assert.ErrorContains(t, w.decide(me, result.Request.ID, state.ActionApprove), approval.IsAuthor)
}

func TestWhereTheFenceDoesNotStandNobodyIsAskedToEnrollAgain(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(both())
	me := alice(w)
	g := w.unanswered(me)
	ledger, err := g.Load(context.Background())
	assert.NilError(t, err)
	key := ledger.Ring().Person("alice")[0]
	assert.Assert(t, key.Doubt != "")
	assert.Assert(t, g.Enrolled(ledger, key.Fingerprint))
	assert.Equal(t, ledger.Keys()[0].Status, gate.KeyYoung)
}
