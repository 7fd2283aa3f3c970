package main

import (
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// audit is the audit entries of the shop's scope, oldest first.
func (s shop) audit(t *testing.T) []state.Audit {
	t.Helper()
	var all []state.Audit
	for _, name := range s.records(t, state.TypeAudit) {
		secret, err := s.Client(kubetest.Admin).CoreV1().Secrets(install.Namespace).Get(t.Context(), name, metav1.GetOptions{})
		assert.NilError(t, err)
		var entry state.Audit
		_, err = sign.Open(state.TypeAudit, secret.Data[state.DataEnvelope], &entry)
		assert.NilError(t, err)
		all = append(all, entry)
	}
	return all
}

// isOneRequest checks that all answers name one change request, of which there
// is one plan record and one audit entry.
func (s shop) isOneRequest(t *testing.T, all []answer, code int) {
	t.Helper()
	for _, got := range all {
		got.exits(t, code)
		assert.Equal(t, idOf(t, got), idOf(t, all[0]))
	}
	assert.DeepEqual(t, counts(s.records(t)), map[string]int{"plan": 1, "audit": 1})
}

func TestGatesThatRunAtOnceMakeOneChangeRequest(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.isOneRequest(t, s.eightAtOnce(t), 2)
	assert.Equal(t, s.audit(t)[0].Verdict, state.VerdictApprovalRequired)
}

func TestGatesThatRunAtOnceAutoApproveOnce(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.write(t, "shop.yaml", `{apiVersion: v1, kind: ConfigMap, metadata: {name: banner, namespace: NS}}`)
	s.isOneRequest(t, s.eightAtOnce(t), 0)
	assert.Equal(t, s.audit(t)[0].Verdict, state.VerdictAllowed)
}

func (s shop) eightAtOnce(t *testing.T) []answer {
	t.Helper()
	all := make([]answer, 8)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() { all[i] = s.as("ci").start(t.Context(), nil, []string{"gate", "-f", s.dir}) })
	}
	group.Wait()
	return all
}

func TestGatesOfSeveralProcessesMakeOneChangeRequest(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	var running []*icmd.Result
	for range 3 {
		running = append(running, icmd.StartCmd(s.as("ci").command(t, "gate", "-f", s.dir)))
	}
	var all []answer
	for _, result := range running {
		icmd.WaitOnCmd(time.Minute, result)
		all = append(all, answer{code: result.ExitCode, stdout: result.Stdout(), stderr: result.Stderr()})
	}
	s.isOneRequest(t, all, 2)
}

func TestGatesOfDifferentScopesAtOnceEachGetANumber(t *testing.T) {
	t.Parallel()
	shops := make([]shop, 6)
	for i := range shops {
		shops[i] = shared(t).open(t)
	}
	all := make([]answer, len(shops))
	var group sync.WaitGroup
	for i, s := range shops {
		group.Go(func() { all[i] = s.as("ci").start(t.Context(), nil, []string{"gate", "-f", s.dir}) })
	}
	group.Wait()
	for i, s := range shops {
		s.isOneRequest(t, all[i:i+1], 2)
	}
}
