package gate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/state"
)

const day = 24 * time.Hour

func (w *world) admin() state.Person { return person("root", "admins") }

// archive moves all that was settled some time ago into a bundle.
func (w *world) archive(olderThan time.Duration) (audit.Bundle, state.Audit) {
	w.t.Helper()
	ctx := context.Background()
	a, err := w.as(w.admin()).PrepareArchive(ctx, w.now.Add(-olderThan))
	assert.NilError(w.t, err)
	assert.Assert(w.t, len(a.Entries) > 0, "nothing to archive")
	entry, err := a.Commit(ctx, state.Digest([]byte(w.stamp())), w.keys["root"])
	assert.NilError(w.t, err)
	_, err = a.Delete(ctx, *entry.Archive)
	assert.NilError(w.t, err)
	w.tick()
	return a.Bundle, entry
}

func TestAnArchiveTakesWhatIsSettledAndTheChainGoesOn(t *testing.T) {
	w := story(t)
	keys, policies := w.count(state.TypeKey), w.count(state.TypePolicy)
	w.now = w.now.Add(100 * day)
	bundle, entry := w.archive(90 * day)
	assert.Equal(t, entry.Number, 7)
	assert.Equal(t, entry.Archive.Plan, 3)
	assert.Equal(t, w.count(state.TypePlan), 1, "the newest allowed plan of the scope stays")
	assert.Equal(t, w.count(state.TypeKey), keys)
	assert.Equal(t, w.count(state.TypePolicy), policies)
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string(nil))

	next := w.change("shop", 7)
	assert.Equal(t, next.Request.Number, 4)
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string(nil))

	offline := gate.Gate{Store: bundle.Store(), ClusterUID: clusterUID}
	facts, err := offline.Examine(context.Background())
	assert.NilError(t, err)
	assert.Equal(t, len(audit.Verify(facts, audit.Expected{}).Findings), 0)
	assert.Equal(t, len(facts.Plans), 3)
}

func TestNumbersGoOnAfterEverythingWasArchived(t *testing.T) {
	w := story(t)
	w.now = w.now.Add(100 * day)
	w.archive(90 * day)
	w.remove(state.TypePlan, "cw-plan-000003") // by hand: nothing is left but the checkpoint
	assert.Equal(t, w.run(flag("shop", "a", "b")).Request.Number, 4)
}

func TestASecondArchiveReplacesTheCheckpointOfTheFirst(t *testing.T) {
	w := story(t)
	w.now = w.now.Add(100 * day)
	w.archive(90 * day)
	w.change("shop", 7)
	w.change("shop", 8)
	w.now = w.now.Add(100 * day)
	_, entry := w.archive(90 * day)
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string(nil))
	assert.Equal(t, len(entry.Archive.Ranges), 1)
	assert.Equal(t, entry.Archive.Ranges[0].First, 1)
	checkpoints := 0
	for _, e := range w.facts().Entries {
		if e.Archive != nil {
			checkpoints++
		}
	}
	assert.Equal(t, checkpoints, 1)
	w.change("shop", 9)
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string(nil))
}

func TestWhatWaitsOrIsApprovedIsNotArchived(t *testing.T) {
	w := story(t)
	w.setPolicy(strings.Replace(policyText, "identity: signed", "identity: signed, expireAfter: 4800h", 1))
	waiting := w.run(flag("waits", "false", "beta")).Request
	approved := w.run(flag("approved", "false", "true")).Request
	assert.NilError(t, w.decide(alice(w), approved.ID, state.ActionApprove))
	w.run(flag("approved", "false", "true"))
	w.now = w.now.Add(100 * day)
	w.archive(90 * day)
	for _, id := range []string{waiting.ID, approved.ID} {
		_, err := w.load().Find(id)
		assert.NilError(t, err)
	}
	assert.Equal(t, decision(w.run(flag("approved", "false", "true"))), state.VerdictAllowed)
	assert.Equal(t, decision(w.run(flag("waits", "false", "beta"))), state.VerdictApprovalRequired)
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string(nil))
}

// An approval that a later plan used up must not stand up again once that later
// plan is archived.
func TestAnArchiveBringsNoSpentApprovalBack(t *testing.T) {
	w := newWorld(t)
	w.setPolicy(strings.Replace(policyText, "identity: signed", "identity: signed, expireAfter: 9000h", 1))
	first := w.run(flag("shop", "a", "b")).Request.ID
	assert.NilError(t, w.decide(alice(w), first, state.ActionApprove))
	w.run(flag("shop", "a", "b"))
	w.change("shop", 1)
	w.now = w.now.Add(100 * day)
	w.archive(90 * day)
	assert.Equal(t, decision(w.run(flag("shop", "a", "b"))), state.VerdictApprovalRequired)
}

func TestAnArchiveThatWasStoppedLosesNothingAndGoesOn(t *testing.T) {
	w := story(t)
	ctx := context.Background()
	w.now = w.now.Add(100 * day)
	g := w.as(w.admin())
	a, err := g.PrepareArchive(ctx, w.now.Add(-90*day))
	assert.NilError(t, err)
	entry, err := a.Commit(ctx, state.Digest(nil), w.keys["root"])
	assert.NilError(t, err)
	for _, r := range audit.Archived(a.Bundle, w.facts(), *entry.Archive)[:3] { // killed here
		w.remove(r.Type, r.Name)
	}
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string(nil))
	w.change("shop", 7)
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string(nil))

	other, _, err := g.Committed(ctx, a.Bundle, state.Digest([]byte("another")))
	assert.NilError(t, err)
	assert.Assert(t, other == nil)
	again, committed, err := g.Committed(ctx, a.Bundle, state.Digest(nil))
	assert.NilError(t, err)
	_, err = again.Delete(ctx, *committed.Archive)
	assert.NilError(t, err)
	assert.Equal(t, w.count(state.TypePlan), 2)
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string(nil))
	assert.Equal(t, len(audit.Verify(w.facts(), audit.Expected{}).Notes), 0)
}

func TestOnlyAnAdminsCheckpointIsBelieved(t *testing.T) {
	w := story(t)
	ctx := context.Background()
	w.now = w.now.Add(100 * day)
	for _, age := range []time.Duration{90 * day, 900 * day} { // also where nothing is so old
		_, err := w.as(alice(w)).PrepareArchive(ctx, w.now.Add(-age))
		assert.ErrorContains(t, err, "a checkpoint counts only from an admin")
	}
	a, err := w.as(w.admin()).PrepareArchive(ctx, w.now.Add(-90*day))
	assert.NilError(t, err)
	_, err = a.Commit(ctx, state.Digest(nil), w.keys["alice"])
	assert.ErrorContains(t, err, "is not enrolled for root")
	forged := state.Audit{Actor: state.Person{Username: "alice"}, ClusterUID: clusterUID, Number: 7, Previous: w.load().ChainHead(),
		Time: w.stamp(), Verdict: state.VerdictArchived, PolicyVersion: 1, Epoch: 1,
		Archive: &state.Archive{Bundle: state.Digest(nil), Plan: 900, Ranges: []state.Range{{First: 1, Last: 2, Head: w.facts().Entries[1].Digest}}}}
	w.forge(state.TypeAudit, entryName(7), "", "", forged, w.keys["alice"], "alice", nil)
	w.remove(state.TypeAudit, entryName(1))
	w.remove(state.TypeAudit, entryName(2))
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string{audit.ChainStart, audit.CheckpointUntrusted})
	assert.Equal(t, w.run(flag("shop", "x", "y")).Request.Number, 4)
}
