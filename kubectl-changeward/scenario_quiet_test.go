package main

import (
	"slices"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRecordsGrowWithDecisionsNotWithRuns(t *testing.T) {
	t.Parallel()
	w := own(t)
	t.Run("a retry and an unchanged verdict write nothing", w.writesNoVerdictTwice)
	t.Run("an empty plan writes nothing but the one outcome that spends an approval", w.writesOneOutcome)
	t.Run("looking writes nothing", w.writesNothingForALook)
	t.Run("commands that enroll one key at once all go on", w.enrollsAtOnce)
	t.Run("an incomplete plan and a refused decision write nothing", w.writesNothingRefused)
}

// everything is every object of namespace changeward.
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

func (w world) writesNoVerdictTwice(t *testing.T) {
	s := w.open(t)
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

func (w world) writesOneOutcome(t *testing.T) {
	s := w.open(t)
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

func (w world) writesNothingForALook(t *testing.T) {
	s := w.open(t)
	id := s.approved(t).ID
	s.writesNothing(t, func() {
		for _, args := range [][]string{{"plan", "-f", s.dir}, {"list"}, {"show", id}, {"policy", "show"}, {"policy", "explain", id}, {"signer", "list"}, {"doctor"}} {
			s.as("dave").run(t, args...)
		}
	})
}

func (w world) writesNothingRefused(t *testing.T) {
	s := w.open(t)
	id := s.proposed(t).ID
	s.write(t, "wrong.yaml", `{apiVersion: v1, kind: Nothing, metadata: {name: x, namespace: NS}}`)
	s.writesNothing(t, func() {
		s.gate(t, "ci").exits(t, 1)
		s.as("dave").run(t, "approve", id, "--yes").exits(t, 1)
		s.as("ci").run(t, "approve", id, "--yes").exits(t, 1)
		s.as("alice").typing("n\n").run(t, "approve", id).exits(t, 1)
	})
}

func (w world) enrollsAtOnce(t *testing.T) {
	shops := []shop{w.open(t), w.open(t), w.open(t)}
	all := make([]answer, len(shops))
	var group sync.WaitGroup
	for i, s := range shops {
		id := s.proposed(t).ID
		group.Go(func() { all[i] = w.as("frank").start(t.Context(), nil, []string{"approve", id, "--yes"}) })
	}
	group.Wait()
	for i, s := range shops {
		all[i].exits(t, 0)
		s.gate(t, "ci").exits(t, 0)
	}
}
