package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/changeward/changeward/pkg/render"
)

func TestASyncThatStoppedHalfWayGoesOnUnderTheSameApproval(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	const second = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: more, namespace: NS}, data: {a: %q}}\n"
	s.apply(t, "changeward", fmt.Sprintf(second, "1"))
	s.write(t, "shop.yaml", s.config("true")+"\n"+fmt.Sprintf(second, "2"))
	change := s.proposed(t)
	s.as("alice").run(t, "approve", change.ID, "--yes").exits(t, 0)
	s.apply(t, "changeward", s.config("true"))

	s.gate(t, "ci").exits(t, 0).prints(t, "change "+change.ID+" (#", "): approved\n",
		"policy: allowed: this is what is left of "+change.ID, ", approved by alice\n")
	var result render.GateResult
	s.gate(t, "ci", "-o", "json").exits(t, 0).json(t, &result)
	assert.Assert(t, result.Resumed)
	assert.DeepEqual(t, counts(s.records(t)), map[string]int{"plan": 1, "audit": 1, "decision": 1, "outcome": 1})

	s.write(t, "shop.yaml", s.config("true")+"\n"+fmt.Sprintf(second, "3"))
	s.gate(t, "ci").exits(t, 2)
}

func TestWhatWaitedForItsNamespaceGoesOnUnderTheSameApproval(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	fresh := s.namespace + "-fresh"
	namespace := "---\n{apiVersion: v1, kind: Namespace, metadata: {name: " + fresh + "}}\n"
	s.write(t, "shop.yaml", strings.ReplaceAll(namespace+`---
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: FRESH}, spec: {selector: {a: b}, ports: [{port: 80}]}}
`, "FRESH", fresh))
	change := s.proposed(t)
	s.as("alice").run(t, "approve", change.ID, "--yes").exits(t, 0)
	s.apply(t, "changeward", namespace)
	got := s.gate(t, "ci").exits(t, 0).prints(t, "policy: allowed: this is what is left of "+change.ID, "spec.clusterIP: (assigned by the server)")
	assert.Equal(t, idOf(t, got), change.ID)
}

func TestAValueThatIsDrawnAnewEachTimeKeepsTheApproval(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.Mutate(t, []string{s.namespace}, []string{"configmaps"}, func() map[string]string {
		return map[string]string{"example.com/drawn": fmt.Sprint(rand.Uint64())}
	})
	ci := s.as("ci")
	poll.WaitOn(t, func(poll.LogT) poll.Result { // the server takes a moment to heed a webhook
		if got := ci.run(t, "plan", "-f", s.dir, "--twice"); strings.Contains(got.stdout, "(differs from run to run)") {
			return poll.Success()
		}
		return poll.Continue("no webhook yet")
	})
	change := s.approved(t)
	got := s.gate(t, "ci").exits(t, 0).prints(t, `metadata.annotations["example.com/drawn"]: (differs from run to run)`,
		"note: differs from one dry run to the next: ")
	assert.Equal(t, idOf(t, got), change.ID)
}
