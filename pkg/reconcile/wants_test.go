package reconcile_test

import (
	"errors"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/reconcile"
	"github.com/changeward/changeward/state"
)

func body(operation plan.Operation, name string, transitions ...diff.Transition) plan.Change {
	return plan.Change{Body: plan.Body{Version: "v1", Kind: "ConfigMap", Namespace: "shop", Name: name, Operation: operation, Transitions: transitions,
		Object: map[string]any{"kind": "ConfigMap"}}}
}

func TestOnlyWhatTheClusterStillHasIsWanted(t *testing.T) {
	live := map[string]map[string]any{"a": {"data": map[string]any{"k": "new", "l": "other"}}, "created": {}, "back": {}}
	wanted, reverted, err := reconcile.Wants([]plan.Change{
		body(plan.Update, "a", diff.Transition{Path: "data.k", Action: diff.Change, Old: "old", New: "new"}, diff.Transition{Path: "data.l", Action: diff.Change, New: "mine"},
			diff.Transition{Path: "data.m", Action: diff.Remove}),
		body(plan.Create, "created"), body(plan.Create, "gone"), body(plan.Delete, "back"), body(plan.Delete, "deleted"), body(plan.Hook, "hook"),
		body(plan.Update, "gone", diff.Transition{Path: "data.k", Action: diff.Add, New: "new"}),
	}, func(b plan.Body) (map[string]any, error) { return live[b.Name], nil })
	assert.NilError(t, err)
	var names, lost []string
	for _, w := range wanted {
		names = append(names, string(w.Operation)+" "+w.Key.Name)
	}
	for _, e := range reverted {
		lost = append(lost, e.Key.Name+" "+e.Field)
	}
	assert.DeepEqual(t, names, []string{"update a", "create created", "delete deleted"})
	assert.DeepEqual(t, lost, []string{"a data.l", "gone ", "back ", "gone "})
	assert.DeepEqual(t, wanted[0].Fields, []reconcile.Field{change("data.k", "new"), {Path: "data.m", Action: diff.Remove}})

	_, _, err = reconcile.Wants([]plan.Change{body(plan.Create, "a")}, func(plan.Body) (map[string]any, error) { return nil, errors.New("forbidden") })
	assert.Error(t, err, "forbidden")
}

func TestWhatDefaultsAddedToANewEntryIsNotWanted(t *testing.T) {
	entry := map[string]any{"name": "x", "image": "i", "imagePullPolicy": "Always", "resources": map[string]any{}}
	held := map[string]any{"manager": "changeward", "operation": "Apply", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:containers": map[string]any{
		`k:{"name":"x"}`: map[string]any{".": map[string]any{}, "f:name": map[string]any{}, "f:image": map[string]any{}}}}}}
	object := map[string]any{"metadata": map[string]any{"managedFields": []any{held}}, "spec": map[string]any{"containers": []any{entry}}}
	added := body(plan.Update, "a", diff.Transition{Path: `spec.containers[name="x"]`, Action: diff.Add, New: entry})
	wanted, _, err := reconcile.Wants([]plan.Change{added}, func(plan.Body) (map[string]any, error) { return object, nil })
	assert.NilError(t, err)
	assert.DeepEqual(t, wanted[0].Fields[0].Value, map[string]any{"name": "x", "image": "i"})

	held["manager"] = "handed-over"
	wanted, _, err = reconcile.Wants([]plan.Change{added}, func(plan.Body) (map[string]any, error) { return object, nil })
	assert.NilError(t, err)
	assert.DeepEqual(t, wanted[0].Fields[0].Value, entry)
}

func TestARequestIsUnreconciledFromItsFirstWriteUntilAnOutcomeSaysGitHasIt(t *testing.T) {
	request := func(number int, scope string, outcomes ...state.Outcome) gate.Request {
		return gate.Request{Number: number, Header: state.Plan{Scope: scope}, Outcomes: outcomes}
	}
	o := func(result string) state.Outcome { return state.Outcome{Result: result} }
	all := []gate.Request{
		request(9, "s", o(state.ResultStarted), o(state.ResultApplied)), request(2, "s", o(state.ResultWritten), o(state.ResultStopped)),
		request(3, "other", o(state.ResultApplied)), request(4, "s", state.Outcome{Result: state.ResultApplied, Observed: true}), request(5, "s", o(state.ResultStarted)),
		request(6, "s", o(state.ResultApplied), o(state.ResultReconciled)), request(7, "s"),
		request(8, "s", o(state.ResultApplied), state.Outcome{Result: state.ResultReconciled, Objects: []state.ObjectResult{{}}}),
	}
	numbers := func(scope string) (out []int) {
		for _, r := range reconcile.Unreconciled(all, scope) {
			out = append(out, r.Number)
		}
		return out
	}
	assert.DeepEqual(t, numbers("s"), []int{2, 5, 8, 9})
	assert.DeepEqual(t, numbers(""), []int{2, 3, 5, 8, 9})
}
