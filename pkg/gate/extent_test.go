package gate_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/state"
)

// frugal is a store that refuses to list what grows with other scopes.
type frugal struct{ state.Store }

func (f frugal) List(ctx context.Context, t state.Type, selector state.Selector) ([]state.Record, error) {
	switch t {
	case state.TypePlan, state.TypeOutcome, state.TypeAudit:
		if selector == (state.Selector{}) {
			return nil, fmt.Errorf("all %s records are listed", t)
		}
	}
	return f.Store.List(ctx, t, selector)
}

func TestAGateReadsNothingOfOtherScopesButNames(t *testing.T) {
	w := story(t)
	for _, scope := range []string{"cart", "search"} {
		w.change(scope, 10)
	}
	w.tick()
	g := w.as(ci())
	g.Store = frugal{w.store}
	p := flag("shop", "x", "y")
	result, err := g.Run(context.Background(), nil, gate.Input{Plan: p, Header: state.Plan{Scope: p.Scope}})
	assert.NilError(t, err)
	assert.Equal(t, result.Request.Number, 6)
	assert.DeepEqual(t, w.reasons(audit.Expected{}), []string(nil))
	_, err = g.Load(context.Background())
	assert.ErrorContains(t, err, "records are listed")
}

// What a ledger of one plan says of its requests is what the whole one says.
func TestPartOfTheRecordsTellsTheSameOfAScopeAsAllOfThem(t *testing.T) {
	w := story(t)
	w.change("cart", 3)                 // also a plan of scope shop, by its hash
	w.run(flag("cart", "v7", "v8"))     // waits
	w.run(flag("shop", "v0", "v1"))     // again: its approval was used up
	w.run(flag("search", "v20", "v21")) // of no interest
	w.now = w.now.Add(100 * day)        // all approvals have expired
	w.run(flag("shop", "v30", "v31"))
	all := w.load()
	for _, r := range all.Requests() {
		part, err := w.as(ci()).LoadFor(context.Background(), r.Header.Scope, r.Hash)
		assert.NilError(t, err)
		assert.Equal(t, part.ChainHead(), all.ChainHead())
		for _, same := range part.Requests() {
			want, err := all.Find(fmt.Sprint(same.Number))
			assert.NilError(t, err)
			assert.Equal(t, same.Status, want.Status, "%s in scope %s", same.ID, same.Header.Scope)
			assert.Equal(t, len(same.Decisions), len(want.Decisions))
			assert.Equal(t, len(same.Audit), len(want.Audit))
		}
	}
}

func TestTheEndOfTheChainIsFoundBehindJunk(t *testing.T) {
	for _, junk := range []int{3, 40} {
		w := story(t)
		head := w.load().ChainHead()
		for n := range junk {
			_, err := w.store.Create(context.Background(), state.Record{Type: state.TypeAudit, Name: entryName(7 + n),
				Data: map[string][]byte{state.DataEnvelope: []byte("{}")}, Claims: state.Claims{Actor: "mallory"}})
			assert.NilError(t, err)
		}
		part, err := w.as(ci()).LoadFor(context.Background(), "cart", "")
		assert.NilError(t, err)
		assert.Equal(t, part.ChainHead(), head)
		w.change("cart", 1)
		assert.DeepEqual(t, w.reasons(audit.Expected{}), []string{audit.EntryInvalid})
	}
}

// The newest plan may be archived while older ones stay; its number is not
// given out again.
func TestNumbersGoOnFromACheckpointOfNoScope(t *testing.T) {
	w := story(t)
	denied := w.run(create("volumes", map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim",
		"metadata": map[string]any{"name": "data", "namespace": "shop"}, "spec": map[string]any{}}))
	assert.Equal(t, decision(denied), state.VerdictDenied)
	w.now = w.now.Add(100 * day)
	w.archive(90 * day)
	_, err := w.store.Get(context.Background(), state.TypePlan, state.NumberedName(state.TypePlan, denied.Request.Number))
	assert.ErrorIs(t, err, state.ErrNotFound)
	w.now = w.now.Add(time.Hour)
	assert.Equal(t, w.run(flag("shop", "x", "y")).Request.Number, denied.Request.Number+1)
}
