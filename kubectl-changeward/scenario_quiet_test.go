package main

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// These tests do not run in parallel: they look at every object of namespace
// changeward.

func (w world) everything(t *testing.T) []string {
	t.Helper()
	return w.objects(t, metav1.ListOptions{})
}

// writesNothing checks that a piece of work leaves the records as they were.
func (w world) writesNothing(t *testing.T, work func()) {
	t.Helper()
	before := w.everything(t)
	work()
	assert.DeepEqual(t, w.everything(t), before)
}

// writes checks how many records a piece of work adds, by type.
func (w world) writes(t *testing.T, want map[string]int, work func()) {
	t.Helper()
	before := w.everything(t)
	work()
	added := slices.DeleteFunc(w.everything(t), func(name string) bool { return slices.Contains(before, name) })
	assert.DeepEqual(t, counts(added), want)
}

func TestARetryAndAnUnchangedVerdictWriteNothing(t *testing.T) {
	s := shared(t).open(t)
	s.writes(t, map[string]int{"plan": 1, "audit": 1}, func() { s.gate(t, "ci").exits(t, 2) })
	s.writesNothing(t, func() {
		for _, who := range []string{"ci", "bob", "dave"} {
			s.gate(t, who).exits(t, 2)
		}
	})
	id := idOf(t, s.gate(t, "ci"))
	s.writes(t, map[string]int{"decision": 1}, func() { s.as("alice").run(t, "approve", id, "--yes").exits(t, 0) })
	s.writes(t, map[string]int{"audit": 1}, func() { s.gate(t, "ci").exits(t, 0) })
	s.writesNothing(t, func() { s.gate(t, "ci").exits(t, 0) })
	s.writes(t, map[string]int{"decision": 1}, func() { s.as("carol").run(t, "reject", id, "--yes").exits(t, 0) })
	s.writes(t, map[string]int{"audit": 1}, func() { s.gate(t, "ci").exits(t, 4) })
	s.writesNothing(t, func() { s.gate(t, "ci").exits(t, 4) })
}

func TestAnEmptyPlanWritesNothingButTheOneOutcomeThatSpendsAnApproval(t *testing.T) {
	s := shared(t).open(t)
	s.write(t, "shop.yaml", s.config("false"))
	s.writesNothing(t, func() {
		for range 3 {
			s.gate(t, "ci").exits(t, 0).prints(t, "policy: allowed: nothing to change")
		}
	})
	s.write(t, "shop.yaml", s.config("true"))
	s.approved(t)
	s.apply(t, "changeward", s.config("true"))
	s.writes(t, map[string]int{"outcome": 1}, func() { s.gate(t, "ci").exits(t, 0) })
	s.writesNothing(t, func() { s.gate(t, "ci").exits(t, 0) })
}

func TestLookingWritesNothing(t *testing.T) {
	s := shared(t).open(t)
	id := s.approved(t).ID
	s.writesNothing(t, func() {
		for _, args := range [][]string{{"plan", "-f", s.dir}, {"list"}, {"show", id}, {"policy", "show"}, {"policy", "explain", id}, {"signer", "list"}, {"doctor"}} {
			s.as("dave").run(t, args...)
		}
	})
}

func TestAnIncompletePlanAndARefusedDecisionWriteNothing(t *testing.T) {
	s := shared(t).open(t)
	id := s.proposed(t).ID
	s.write(t, "wrong.yaml", `{apiVersion: v1, kind: Nothing, metadata: {name: x, namespace: NS}}`)
	s.writesNothing(t, func() {
		s.gate(t, "ci").exits(t, 1)
		s.as("dave").run(t, "approve", id, "--yes").exits(t, 1)
		s.as("ci").run(t, "approve", id, "--yes").exits(t, 1)
		s.as("alice").typing("n\n").run(t, "approve", id).exits(t, 1)
	})
}
