package gate_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/pkg/trust"
	"github.com/changeward/changeward/state"
)

// putAs stores a version under a name, signed and written by a person.
func (w *world) putAs(who state.Person, key sign.Signer, t state.Type, name string, predicate any) {
	w.t.Helper()
	envelope, _, err := sign.Seal(key, t, "", "", predicate)
	assert.NilError(w.t, err)
	_, err = w.store.Create(context.Background(), state.Record{Type: t, Name: name, Data: map[string][]byte{state.DataEnvelope: envelope},
		Claims: state.Claims{Actor: who.Username, Groups: who.Groups}})
	assert.NilError(w.t, err)
}

func (w *world) policyVersion(actor state.Person, number int, previous string) state.Policy {
	return state.Policy{Actor: actor, ClusterUID: clusterUID, Previous: previous, Source: strings.Replace(policyText, "default: approval", "default: allow", 1),
		Time: w.stamp(), Version: number}
}

func (w *world) digest(t state.Type, number int) string {
	w.t.Helper()
	record, err := w.store.Get(context.Background(), t, state.NumberedName(t, number))
	assert.NilError(w.t, err)
	return state.Digest(record.Data[state.DataEnvelope])
}

func rejected(l *gate.Ledger) []string {
	var names []string
	for _, r := range l.Rejected {
		names = append(names, r.Name+" "+r.Reason)
	}
	slices.Sort(names)
	return names
}

func TestAPolicyThatNobodyEntitledSignedStopsNothingAndIsNamed(t *testing.T) {
	w := newWorld(t)
	w.enrollByHand("mallory", "dev")
	w.tick()
	mallory, root, head := person("mallory", "dev"), person("root", "admins"), w.digest(state.TypePolicy, 1)
	name := func(n int) string { return state.NumberedName(state.TypePolicy, n) }
	w.putAs(mallory, w.keys["mallory"], state.TypePolicy, name(999), w.policyVersion(mallory, 999, head))
	w.putAs(mallory, w.keys["mallory"], state.TypePolicy, name(2), w.policyVersion(mallory, 2, head))
	w.putAs(root, newKey(t), state.TypePolicy, name(3), w.policyVersion(root, 3, head))
	w.putAs(mallory, w.keys["root"], state.TypePolicy, name(4), w.policyVersion(root, 4, head))
	first, err := w.store.Get(context.Background(), state.TypePolicy, name(1))
	assert.NilError(t, err)
	w.putRaw(state.TypePolicy, name(5), first.Data[state.DataEnvelope], root)
	w.putRaw(state.TypePolicy, name(6), []byte("junk"), mallory)

	ledger := w.load()
	_, version := ledger.Policy()
	assert.Equal(t, version, 1)
	var want []string
	for _, n := range []int{2, 3, 4, 5, 6, 999} {
		want = append(want, name(n)+" "+trust.ReasonNotEntitled)
	}
	assert.DeepEqual(t, rejected(ledger), want)
	assert.Equal(t, decision(w.run(flag("shop", "false", "true"))), state.VerdictApprovalRequired)
	_, err = w.as(root).SetPolicy(context.Background(), ledger, policyText, w.keys["root"], false)
	assert.ErrorContains(t, err, "cw-policy-000002 counts for nothing")
	assert.NilError(t, w.store.Delete(context.Background(), state.TypePolicy, name(2)))
	w.setPolicy(policyText)
}

// putRaw stores these bytes as the envelope of a record.
func (w *world) putRaw(t state.Type, name string, envelope []byte, who state.Person) {
	w.t.Helper()
	_, err := w.store.Create(context.Background(), state.Record{Type: t, Name: name, Data: map[string][]byte{state.DataEnvelope: envelope},
		Claims: state.Claims{Actor: who.Username, Groups: who.Groups}})
	assert.NilError(w.t, err)
}

func TestAVersionThatAnAdminSignedAndThatSkipsOneStopsEveryDecision(t *testing.T) {
	for name, edit := range map[string]func(*state.Policy){
		"a version is missing":         func(p *state.Policy) { p.Version = 3 },
		"it follows another version":   func(p *state.Policy) { p.Previous = state.Digest(nil) },
		"it is an older one once more": func(p *state.Policy) { p.Version, p.Previous = 1, "" },
		"its rules cannot be read":     func(p *state.Policy) { p.Source = "rules" },
		"its rules do not compile":     func(p *state.Policy) { p.Source = strings.Replace(policyText, "change.env", "change.nv", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			root := person("root", "admins")
			p := w.policyVersion(root, 2, w.digest(state.TypePolicy, 1))
			edit(&p)
			w.putAs(root, w.keys["root"], state.TypePolicy, state.NumberedName(state.TypePolicy, max(p.Version, 2)), p)
			assert.Equal(t, w.loadFault(), gate.ReasonPolicyUnreadable)
		})
	}
}

func TestOnlyRulesInForceAreCompiled(t *testing.T) {
	w := newWorld(t)
	root := person("root", "admins")
	p := w.policyVersion(root, 2, w.digest(state.TypePolicy, 1))
	p.Source = strings.Replace(policyText, "change.env", "change.ofAnotherVersion", 1)
	w.putAs(root, w.keys["root"], state.TypePolicy, state.NumberedName(state.TypePolicy, 2), p)
	w.tick()
	w.putAs(root, w.keys["root"], state.TypePolicy, state.NumberedName(state.TypePolicy, 3), w.policyVersion(root, 3, w.digest(state.TypePolicy, 2)))
	_, version := w.load().Policy()
	assert.Equal(t, version, 3)
}

func TestAGateThatLiesAboutThePolicyIsNamedUntilAnAdminHasLooked(t *testing.T) {
	w := newWorld(t)
	lie := func(entry int) {
		w.forge(state.TypeAudit, state.NumberedName(state.TypeAudit, entry), "", "", state.Audit{Actor: ci(), ClusterUID: clusterUID, Number: entry,
			PlanHash: state.Digest(nil), PolicyVersion: 999, Request: 1, Scope: "x", Time: w.stamp(), Verdict: state.VerdictDenied}, w.gate, ci().Username, nil)
		w.tick()
	}
	lie(1)
	result := w.run(flag("shop", "false", "true"))
	assert.Equal(t, result.Verdict.Reasons[0].Reason, gate.ReasonPolicyMissing)
	for _, name := range []string{"cw-audit-0000000001", ci().Username, "policy version 999"} {
		assert.Assert(t, strings.Contains(result.Verdict.Reasons[0].Message, name), result.Verdict.Reasons[0].Message)
	}
	w.setPolicy(policyText)
	assert.Equal(t, decision(w.run(flag("shop", "false", "true"))), state.VerdictApprovalRequired)
}

func TestAnEpochCountsOnlyFromWhoIsKnownByKeyToBeAnAdmin(t *testing.T) {
	root, eve := person("root", "admins"), person("eve", "admins") // by the word of a fence that may be down
	for _, test := range []struct {
		name    string
		prepare func(w *world)
		by      state.Person
		counts  bool
	}{
		{"root, who wrote the first", func(*world) {}, root, true},
		{"someone who claims the admins' group", func(*world) {}, eve, false},
		{"someone whom the policy names, with a key that only the server vouches for", func(w *world) {
			w.setPolicy(strings.Replace(policyText, "{groups: [admins]}", "{groups: [admins], users: [eve]}", 1))
		}, eve, false},
		{"someone whom the policy names, with a key that root has signed for", func(w *world) {
			w.countersigned("eve")
			w.setPolicy(strings.Replace(policyText, "{groups: [admins]}", "{groups: [admins], users: [eve]}", 1))
		}, eve, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.enrollByHand("eve")
			w.tick()
			test.prepare(w)
			w.tick()
			w.putAs(test.by, w.keys[test.by.Username], state.TypeEpoch, state.NumberedName(state.TypeEpoch, 2), state.Epoch{Actor: test.by, Admission: 1,
				ClusterUID: clusterUID, GateKey: w.load().Epoch().GateKey, Objects: []state.AdmissionObject{}, Previous: w.digest(state.TypeEpoch, 1), Time: w.stamp(), Version: 2})
			ledger, err := w.fenced(ci(), w.now.Add(-time.Hour)).Load(context.Background())
			assert.NilError(t, err)
			assert.Equal(t, ledger.Epoch().Version == 2, test.counts)
			assert.Equal(t, slices.Contains(rejected(ledger), "cw-epoch-000002 "+trust.ReasonNotEntitled), !test.counts)
		})
	}
}

// countersigned has root sign for the key of a person.
func (w *world) countersigned(who string) {
	w.t.Helper()
	ledger := w.load()
	_, err := w.as(person("root", "admins")).Countersign(context.Background(), ledger, ledger.Ring().Person(who)[0].Fingerprint, w.keys["root"])
	assert.NilError(w.t, err)
	w.tick()
}

// both is the policy text that wants signed and attested approvals.
func both() string { return strings.Replace(policyText, "identity: signed", "identity: both", 1) }

// decideFenced approves as alice, with the fence up since from.
func (w *world) decideFenced(id string, key sign.Signer, from time.Time, first bool) error {
	w.t.Helper()
	g := w.fenced(person("alice"), from)
	ledger, err := g.Load(context.Background())
	assert.NilError(w.t, err)
	request, err := ledger.Find(id)
	assert.NilError(w.t, err)
	_, err = g.Decide(context.Background(), ledger, gate.DecideInput{Request: request, Action: state.ActionApprove, Signer: key, First: first})
	return err
}

func TestAKeyEnrolledWhileTheFenceMayHaveBeenDownIsEnrolledAgain(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(both())
	alice(w) // enrolled in the gap, by whoever
	w.now = w.now.Add(time.Hour)
	from := w.now
	w.tick()
	p := flag("shop", "false", "true")
	run := func() *gate.Result {
		result, err := w.fenced(ci(), from).Run(context.Background(), nil, gate.Input{Plan: p, Header: state.Plan{Scope: p.Scope}})
		assert.NilError(t, err)
		return result
	}
	id := run().Request.ID
	w.tick()
	assert.ErrorContains(t, w.decideFenced(id, w.keys["alice"], from, false), approval.KeyInDoubt)
	assert.NilError(t, w.decideFenced(id, w.keys["alice"], from, true), "the server vouches for her now")
	w.tick()
	assert.Equal(t, decision(run()), state.VerdictAllowed)
}

func TestADeletedKeyRecordDoesNotLetANewFirstKeyIn(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(both())
	from := w.now.Add(-time.Hour)
	first := *must(w.fenced(ci(), from).Run(context.Background(), nil, gate.Input{Plan: flag("shop", "false", "true"), Header: state.Plan{Scope: "shop"}})).Request
	alice(w)
	assert.NilError(t, w.decideFenced(first.ID, w.keys["alice"], from, false))
	w.tick()
	ledger := w.load()
	entry := ledger.Ring().Person("alice")[0]
	assert.NilError(t, w.store.Delete(context.Background(), state.TypeKey, entry.Record))

	thief := newKey(t)
	assert.ErrorContains(t, w.decideFenced(first.ID, thief, from, true), "signed with another key before")
	_, err := w.fenced(person("alice"), from).Enroll(context.Background(), w.load(), thief, nil, nil)
	assert.NilError(t, err)
	ledger = w.load()
	assert.Equal(t, len(ledger.Ring().Person("alice")), 0)
	assert.Equal(t, len(ledger.Asked()), 1, "an admin has to sign for it")
}

func must(r *gate.Result, err error) *gate.Result {
	if err != nil {
		panic(err)
	}
	return r
}
