package gate_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/dir"
)

// story is a world in which three changes were approved, one after the other,
// and done.
func story(t *testing.T) *world {
	w := newWorld(t)
	for i := range 3 {
		w.change("shop", i)
	}
	return w
}

// change takes the flag of a scope from one value to the next, with approval.
func (w *world) change(scope string, i int) *gate.Result {
	w.t.Helper()
	from, to := fmt.Sprint("v", i), fmt.Sprint("v", i+1)
	id := w.run(flag(scope, from, to)).Request.ID
	assert.NilError(w.t, w.decide(alice(w), id, state.ActionApprove))
	passed := w.run(flag(scope, from, to))
	assert.Equal(w.t, decision(passed), state.VerdictAllowed)
	w.run(flag(scope, to, to))
	return passed
}

func (w *world) facts() audit.Facts {
	w.t.Helper()
	facts, err := w.as(ci()).Examine(context.Background())
	assert.NilError(w.t, err)
	return facts
}

// reasons are those of all findings, sorted.
func (w *world) reasons(expected audit.Expected) []string {
	w.t.Helper()
	var out []string
	for _, f := range audit.Verify(w.facts(), expected).Findings {
		out = append(out, f.Reason)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func entryName(n int) string { return state.NumberedName(state.TypeAudit, n) }

func (w *world) remove(t state.Type, name string) {
	w.t.Helper()
	assert.NilError(w.t, w.store.Delete(context.Background(), t, name))
}

// swap exchanges the contents of two records.
func (w *world) swap(t state.Type, a, b string) {
	w.t.Helper()
	ctx := context.Background()
	one, err := w.store.Get(ctx, t, a)
	assert.NilError(w.t, err)
	w.rewrite(t, b, func(data map[string][]byte) {
		other := data[state.DataEnvelope]
		data[state.DataEnvelope] = one.Data[state.DataEnvelope]
		w.rewrite(t, a, func(data map[string][]byte) { data[state.DataEnvelope] = other })
	})
}

func (w *world) first(t state.Type) state.Record {
	w.t.Helper()
	list, err := w.store.List(context.Background(), t, state.Selector{})
	assert.NilError(w.t, err)
	return list[0]
}

func TestAnAuditOfWhatNobodyTouchedFindsNothing(t *testing.T) {
	w := story(t)
	v := audit.Verify(w.facts(), audit.Expected{Head: w.load().ChainHead(), Trust: w.facts().FirstPolicy})
	assert.Equal(t, len(v.Findings), 0, "%v", v.Findings)
	assert.Equal(t, len(v.Notes), 0, "%v", v.Notes)
	assert.Equal(t, v.Head, w.load().ChainHead())
	assert.Equal(t, v.Last, 6)
	assert.Equal(t, v.Decisions, 3)
}

// copied is the same world once more, over a copy of the records.
func (w *world) copied(t *testing.T) *world {
	t.Helper()
	other := *w
	other.t, other.root = t, filepath.Join(t.TempDir(), "records")
	assert.NilError(t, os.CopyFS(other.root, os.DirFS(w.root)))
	other.store = dir.Open(other.root, func() time.Time { return other.now })
	return &other
}

func TestAnAuditNamesWhatWasDoneToTheRecords(t *testing.T) {
	untouched := story(t)
	for name, test := range map[string]struct {
		tamper func(w *world)
		want   []string
	}{
		"an entry taken out of the middle": {func(w *world) { w.remove(state.TypeAudit, entryName(3)) }, []string{audit.EntryMissing}},
		"entries taken off the start":      {func(w *world) { w.remove(state.TypeAudit, entryName(1)) }, []string{audit.ChainStart}},
		"an entry edited": {func(w *world) {
			w.rewrite(state.TypeAudit, entryName(3), func(data map[string][]byte) {
				data[state.DataEnvelope][len(data[state.DataEnvelope])/2] ^= 'a' ^ 'b'
			})
		}, []string{audit.ChainBroken, audit.EntryInvalid}},
		"two entries reordered": {func(w *world) { w.swap(state.TypeAudit, entryName(2), entryName(3)) }, []string{audit.EntryInvalid}},
		"a counted approval taken away": {func(w *world) {
			w.remove(state.TypeDecision, w.first(state.TypeDecision).Name)
		}, []string{audit.ApprovalMissing, audit.ApprovalShort}},
		"a plan taken away": {func(w *world) { w.remove(state.TypePlan, "cw-plan-000002") }, []string{audit.PlanMissing}},
		"the body of a plan exchanged": {func(w *world) {
			other, err := w.store.Get(context.Background(), state.TypePlan, "cw-plan-000001")
			assert.NilError(w.t, err)
			w.rewrite(state.TypePlan, "cw-plan-000002", func(data map[string][]byte) { data[state.DataPlan] = other.Data[state.DataPlan] })
		}, []string{gate.ReasonRecordInvalid}},
		"a policy version taken away": {func(w *world) { w.remove(state.TypePolicy, "cw-policy-000001") },
			[]string{gate.ReasonNoPolicy, audit.PolicyUnknown}},
		"junk in the chain": {func(w *world) {
			_, err := w.store.Create(context.Background(), state.Record{Type: state.TypeAudit, Name: entryName(7),
				Data: map[string][]byte{state.DataEnvelope: []byte("{}")}, Claims: state.Claims{Actor: "mallory"}})
			assert.NilError(w.t, err)
		}, []string{audit.EntryInvalid}},
	} {
		t.Run(name, func(t *testing.T) {
			w := untouched.copied(t)
			test.tamper(w)
			assert.DeepEqual(t, w.reasons(audit.Expected{}), test.want)
		})
	}
}

func TestACutTailShowsAgainstAHeadFromOutside(t *testing.T) {
	w := story(t)
	head, older := w.load().ChainHead(), w.facts().Entries[3].Digest
	v := audit.Verify(w.facts(), audit.Expected{Head: older})
	assert.Equal(t, v.Behind, 2)
	w.remove(state.TypeAudit, entryName(6))
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string(nil))
	assert.DeepEqual(t, w.reasons(audit.Expected{Head: head}), []string{audit.HeadMissing})
	assert.DeepEqual(t, w.reasons(audit.Expected{Head: older, Trust: state.Digest(nil)}), []string{audit.TrustMismatch})
}

func TestTheGateGoesOnBehindJunkAndTheChainHolds(t *testing.T) {
	w := story(t)
	for _, n := range []int{7, 9, 500_000} {
		_, err := w.store.Create(context.Background(), state.Record{Type: state.TypeAudit, Name: entryName(n),
			Data: map[string][]byte{state.DataEnvelope: []byte("{}")}, Claims: state.Claims{Actor: "mallory"}})
		assert.NilError(t, err)
	}
	w.change("shop", 5)
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string{audit.EntryInvalid})
}

func TestAKeyRevokedLaterVoidsNoneOfItsApprovalsInTheAudit(t *testing.T) {
	w := story(t)
	w.tick()
	w.revokeByHand("alice")
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string(nil))
	report := audit.NewReport(w.facts(), audit.Filter{})
	assert.Assert(t, report.Changes[0].Approvals[0].Revoked)

	w.tick()
	request, err := w.load().Find("1")
	assert.NilError(t, err)
	w.approveByHand("alice", request, w.stamp())
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string{approval.KeyRevoked})
}

func TestAPlanSignedWithAKeyThatNobodyEnrolledIsNamed(t *testing.T) {
	w := newWorld(t)
	private, _, err := sign.NewGateKey()
	assert.NilError(t, err)
	stranger, err := sign.ParseGateKey(private)
	assert.NilError(t, err)
	g := w.as(person("dave"))
	g.Signer = stranger
	p := flag("shop", "false", "true")
	_, err = g.Run(context.Background(), nil, gate.Input{Plan: p, Header: state.Plan{Scope: p.Scope}})
	assert.NilError(t, err)
	v := audit.Verify(w.facts(), audit.Expected{})
	assert.Equal(t, v.Notes[0].Reason, audit.PlanKeyUnknown)
	assert.Equal(t, v.Findings[0].Reason, audit.EntryInvalid, "its entry, too, but that is what the chain is for")
}

func TestAReportPutsFirstWhatWasAppliedWithoutAnApproval(t *testing.T) {
	w := story(t)
	assert.Equal(t, len(audit.NewReport(w.facts(), audit.Filter{}).Unapproved), 0)
	w.remove(state.TypeDecision, w.first(state.TypeDecision).Name)
	r := audit.NewReport(w.facts(), audit.Filter{})
	assert.Equal(t, len(r.Changes), 3)
	assert.Equal(t, len(r.Unapproved), 1)
	assert.Equal(t, r.Unapproved[0].Result, state.ResultApplied)
	assert.Equal(t, r.Unapproved[0].Doubts[0].Reason, audit.ApprovalMissing)
	assert.Equal(t, r.Scopes[0].Scope, "shop")
	assert.Equal(t, r.Scopes[0].Changes, 3)

	later := audit.NewReport(w.facts(), audit.Filter{Since: w.now.Add(time.Hour)})
	assert.Equal(t, len(later.Changes), 0)
	assert.Equal(t, len(audit.Log(w.facts(), audit.Filter{Scope: "other"})), 0)
	assert.Equal(t, audit.Log(w.facts(), audit.Filter{Scope: "shop"})[0].Number, 6)
}

func TestARecordThatItsLabelsHideIsNamed(t *testing.T) {
	w := story(t)
	ctx := context.Background()
	for _, name := range []string{"cw-plan-000001", "cw-plan-000002"} {
		r, err := w.store.Get(ctx, state.TypePlan, name)
		assert.NilError(t, err)
		w.remove(state.TypePlan, name)
		r.Scope, r.Plan = r.Plan, r.Scope
		_, err = w.store.Create(ctx, r)
		assert.NilError(t, err)
	}
	v := audit.Verify(w.facts(), audit.Expected{})
	assert.Equal(t, len(v.Notes), 2)
	assert.Equal(t, v.Notes[0].Reason, audit.LabelMismatch)
}

func TestABundleProvesTheSameWithoutTheStore(t *testing.T) {
	w := story(t)
	bundle, err := w.as(ci()).Export(context.Background())
	assert.NilError(t, err)
	var file bytes.Buffer
	assert.NilError(t, bundle.Write(&file))
	read, err := audit.ReadBundle(&file)
	assert.NilError(t, err)
	offline := gate.Gate{Store: read.Store(), ClusterUID: clusterUID}
	facts, err := offline.Examine(context.Background())
	assert.NilError(t, err)
	assert.DeepEqual(t, audit.Verify(facts, audit.Expected{}), audit.Verify(w.facts(), audit.Expected{}))
}

func (w *world) revokeByHand(name string) {
	w.t.Helper()
	k := state.Key{Action: state.KeyRevoke, ClusterUID: clusterUID, Person: person(name),
		PublicKey: sign.AuthorizedKey(w.keys[name].PublicKey()), Reason: "lost", Time: w.stamp()}
	w.forge(state.TypeKey, "", "", "", k, w.keys[name], name, nil)
}

func (w *world) approveByHand(name string, r gate.Request, stamp string) {
	w.t.Helper()
	d := state.Decision{Action: state.ActionApprove, ClusterUID: clusterUID, Number: r.Number, Person: person(name), Time: stamp}
	w.forge(state.TypeDecision, "", r.ID, r.Hash, d, w.keys[name], name, nil)
}

func TestAnEmergencyIsReportedUntilAnotherPersonHasReviewedIt(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(policyText + "  emergency: {users: [alice], review: 72h}\n")
	w.enrollByHand("erin")
	r := w.run(flag("shop", "false", "true")).Request
	w.tick()
	alice(w)
	ledger := w.load()
	request, err := ledger.Find(r.ID)
	assert.NilError(t, err)
	_, err = w.as(person("alice")).Decide(context.Background(), ledger, gate.DecideInput{Request: request, Action: state.ActionApprove,
		Emergency: true, Reason: "on fire", Signer: w.keys["alice"]})
	assert.NilError(t, err)
	assert.Equal(t, decision(w.run(flag("shop", "false", "true"))), state.VerdictAllowed)
	review := func(name string) {
		w.tick()
		w.forge(state.TypeReview, "", r.ID, r.Hash, state.Review{ClusterUID: clusterUID, Number: 1, Person: person(name), Reason: "fine", Time: w.stamp()},
			w.keys[name], name, nil)
	}
	review("alice")
	assert.Equal(t, len(audit.NewReport(w.facts(), audit.Filter{}).Emergencies), 1)
	review("erin")
	assert.Equal(t, len(audit.NewReport(w.facts(), audit.Filter{}).Emergencies), 0)
}
