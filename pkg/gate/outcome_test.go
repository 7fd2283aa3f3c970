package gate_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/state"
)

func (w *world) outcome(request *gate.Request, results ...string) {
	w.t.Helper()
	for _, result := range results {
		assert.NilError(w.t, w.as(ci()).Outcome(context.Background(), request, state.Outcome{Result: result}))
	}
}

func TestWhatAStoppedApplyLeftPasses(t *testing.T) {
	w := newWorld(t)
	request := w.approved(parts(set("a", "1", "2"), set("b", "1", "2")))
	w.outcome(request, state.ResultStarted, state.ResultWritten, state.ResultStopped, state.ResultStarted)
	result := w.run(parts(set("a", "2", "2"), set("b", "1", "2")))
	assert.Equal(t, decision(result), state.VerdictAllowed)
	assert.Assert(t, result.Resumed)
	assert.Equal(t, result.Request.ID, request.ID)
}

func TestNothingIsLeftOfWhatWasFinishedOrOvertaken(t *testing.T) {
	whole, rest := parts(set("a", "1", "2"), set("b", "1", "2")), parts(set("a", "2", "2"), set("b", "1", "2"))
	for name, between := range map[string]func(w *world, request *gate.Request){
		"applied":  func(w *world, r *gate.Request) { w.outcome(r, state.ResultStarted, state.ResultApplied) },
		"diverged": func(w *world, r *gate.Request) { w.outcome(r, state.ResultDiverged) },
		"another plan of the scope was begun": func(w *world, _ *gate.Request) {
			w.outcome(w.run(parts(set("a", "1", "9"))).Request, state.ResultStarted)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			between(w, w.approved(whole))
			result := w.run(rest)
			assert.Equal(t, decision(result), state.VerdictApprovalRequired)
			assert.Assert(t, !result.Resumed)
		})
	}
}

func TestAnOutcomeIsWrittenOnceEvenWhereOthersWriteToo(t *testing.T) {
	w := newWorld(t)
	request := w.approved(parts(set("a", "1", "2")))
	other := *request
	w.outcome(request, state.ResultStarted)
	w.outcome(&other, state.ResultApplied) // has not seen the first
	found, err := w.load().Find(request.ID)
	assert.NilError(t, err)
	assert.Equal(t, len(found.Outcomes), 2)
	assert.Equal(t, found.Outcomes[1].Sequence, 2)
	assert.Equal(t, found.Status, gate.Applied)
}

func TestAnOutcomeOfAnUnknownResultIsNotWrittenAndDoesNotCount(t *testing.T) {
	w := newWorld(t)
	request := w.approved(parts(set("a", "1", "2")))
	assert.ErrorContains(t, w.as(ci()).Outcome(context.Background(), request, state.Outcome{Result: "undone"}), "undone")
	w.forge(state.TypeOutcome, state.OutcomeName(1, 1), request.ID, request.Hash, state.Outcome{Actor: ci(), ClusterUID: clusterUID, Number: 1,
		Sequence: 1, Time: w.stamp(), Result: "undone"}, w.gate, ci().Username, nil)
	ledger := w.load()
	found, err := ledger.Find(request.ID)
	assert.NilError(t, err)
	assert.Equal(t, len(found.Outcomes), 0)
	assert.Equal(t, len(ledger.Rejected), 1)
}
