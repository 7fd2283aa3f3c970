package gate_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/state"
)

// loadFault is the reason why the records cannot be read.
func (w *world) loadFault() string {
	w.t.Helper()
	_, err := w.as(ci()).Load(context.Background())
	var fault *gate.Fault
	assert.Assert(w.t, errors.As(err, &fault), "want a fault, got %v", err)
	return fault.Reason
}

func (w *world) setPolicy(text string) {
	w.t.Helper()
	w.tick()
	ledger := w.load()
	_, err := w.as(person("root", "admins")).SetPolicy(context.Background(), ledger, text, w.keys["root"], false)
	assert.NilError(w.t, err)
}

// rewrite replaces a record by one with other data under the same name.
func (w *world) rewrite(t state.Type, name string, edit func(data map[string][]byte)) {
	w.t.Helper()
	ctx := context.Background()
	record, err := w.store.Get(ctx, t, name)
	assert.NilError(w.t, err)
	edit(record.Data)
	assert.NilError(w.t, w.store.Delete(ctx, t, name))
	_, err = w.store.Create(ctx, record)
	assert.NilError(w.t, err)
}

func TestANewPolicyVersionIsInForceAtOnce(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(strings.Replace(policyText, "users: [alice]", "users: [carol]", 1))
	result := w.run(flag("shop", "false", "true"))
	assert.Equal(t, result.PolicyVersion, 2)
	assert.DeepEqual(t, needs(result)[0].Who.Users, []string{"carol"})
}

func TestAMissingPolicyVersionStopsEveryDecision(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(policyText + "  requireTicket: false\n")
	w.setPolicy(policyText)
	assert.NilError(t, w.store.Delete(context.Background(), state.TypePolicy, state.NumberedName(state.TypePolicy, 2)))
	assert.Equal(t, w.loadFault(), gate.ReasonPolicyUnreadable)
}

func TestAnEditedPolicyStopsEveryDecision(t *testing.T) {
	w := newWorld(t)
	w.rewrite(state.TypePolicy, state.NumberedName(state.TypePolicy, 1), func(data map[string][]byte) {
		middle := len(data[state.DataEnvelope]) / 2 // inside the base64 of the payload
		data[state.DataEnvelope][middle] ^= 'a' ^ 'b'
	})
	assert.Equal(t, w.loadFault(), gate.ReasonPolicyUnreadable)
}

func TestOnlyAnAdminOfThePolicySetsTheNext(t *testing.T) {
	w := newWorld(t)
	w.enrollByHand("mallory", "dev")
	w.tick()
	_, err := w.as(person("mallory", "dev")).SetPolicy(context.Background(), w.load(), policyText, w.keys["mallory"], false)
	assert.ErrorContains(t, err, "no admin")
}

func TestAPolicyThatDoesNotCompileIsNotSet(t *testing.T) {
	w := newWorld(t)
	_, err := w.as(person("root", "admins")).SetPolicy(context.Background(), w.load(),
		strings.Replace(policyText, "change.env", "change.envv", 1), w.keys["root"], false)
	assert.ErrorContains(t, err, "envv")
	assert.Equal(t, w.count(state.TypePolicy), 1)
}

func TestAChangedPlanRecordIsNamedAndNeverCounts(t *testing.T) {
	w := newWorld(t)
	id := w.run(flag("shop", "false", "true")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	other := w.run(flag("shop", "false", "beta")).Request
	swapped, err := w.store.Get(context.Background(), state.TypePlan, state.NumberedName(state.TypePlan, other.Number))
	assert.NilError(t, err)
	w.rewrite(state.TypePlan, state.NumberedName(state.TypePlan, 1), func(data map[string][]byte) {
		data[state.DataPlan] = swapped.Data[state.DataPlan]
	})
	request, err := w.load().Find("1")
	assert.NilError(t, err)
	assert.Equal(t, request.Status, gate.Invalid)
	assert.Equal(t, request.Void, gate.ReasonRecordInvalid)
	assert.ErrorContains(t, w.decide(alice(w), request.ID, state.ActionApprove), "cannot be decided on")
	assert.Equal(t, decision(w.run(flag("shop", "false", "true"))), state.VerdictApprovalRequired)
}

func TestAnApprovalOfAnotherPlanDoesNotCount(t *testing.T) {
	w := newWorld(t)
	first := w.run(flag("shop", "false", "true")).Request
	assert.NilError(t, w.decide(alice(w), first.ID, state.ActionApprove))
	second := w.run(flag("shop", "false", "beta"))
	assert.Equal(t, decision(second), state.VerdictApprovalRequired)
	assert.Equal(t, second.Verdict.Requirements[0].Met, 0)
}

func TestAGateKilledBeforeItsAuditEntryIsMadeGoodByTheNext(t *testing.T) {
	w := newWorld(t)
	id := w.run(flag("shop", "false", "true")).Request.ID
	assert.NilError(t, w.store.Delete(context.Background(), state.TypeAudit, state.NumberedName(state.TypeAudit, 1)))
	again := w.run(flag("shop", "false", "true"))
	assert.Equal(t, again.Request.ID, id)
	assert.Equal(t, w.count(state.TypePlan), 1)
	assert.Equal(t, w.count(state.TypeAudit), 1)
}

func TestAuditEntriesAreChained(t *testing.T) {
	w := newWorld(t)
	id := w.run(flag("shop", "false", "true")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	head := w.run(flag("shop", "false", "true")).ChainHead
	first, err := w.store.Get(context.Background(), state.TypeAudit, state.NumberedName(state.TypeAudit, 1))
	assert.NilError(t, err)
	request, err := w.load().Find(id)
	assert.NilError(t, err)
	assert.Equal(t, len(request.Audit), 2)
	assert.Equal(t, request.Audit[1].Previous, state.Digest(first.Data[state.DataEnvelope]))
	assert.Equal(t, request.Audit[1].Verdict, state.VerdictAllowed)
	assert.Equal(t, len(request.Audit[1].Decisions), 1)
	assert.Equal(t, w.load().ChainHead(), head)
}

func TestAKeyOfAnotherPersonCannotBeEnrolled(t *testing.T) {
	w := newWorld(t)
	alice(w)
	_, err := w.as(person("bob")).Enroll(context.Background(), w.load(), w.keys["alice"], nil, nil)
	assert.ErrorContains(t, err, "enrolled already, for alice")
}

func TestAFurtherKeyNeedsTheSignatureOfTheFirst(t *testing.T) {
	w := newWorld(t)
	me := alice(w)
	first := w.keys["alice"]
	second := w.gate // any key that is not enrolled
	_, err := w.as(me).Enroll(context.Background(), w.load(), second, nil, nil)
	assert.NilError(t, err)
	assert.Equal(t, len(w.load().Ring().Person("alice")), 1)
	assert.Equal(t, w.load().Asked()[0].Key.Person.Username, "alice")
	w.tick()
	_, err = w.as(me).Enroll(context.Background(), w.load(), second, first, nil)
	assert.NilError(t, err)
	assert.Equal(t, len(w.load().Ring().Person("alice")), 2)
}
