package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/state"
)

// moment is when a gate is killed: at its nth request, or its nth write of a
// record; before the server sees it, or after the server has done it.
type moment struct {
	nth   int32
	write bool
	after bool
}

func (m moment) String() string {
	what, when := "request", "before"
	if m.write {
		what = "write"
	}
	if m.after {
		when = "after"
	}
	return fmt.Sprintf("%s %s %d", when, what, m.nth)
}

func writes(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/changeward/") && !r.URL.Query().Has("dryRun")
}

// killed runs a gate as a process and kills it (SIGKILL) at this moment. It
// returns how many requests the process sent.
func (s shop) killed(t *testing.T, m moment) (sent int32, result *icmd.Result) {
	t.Helper()
	var requests, records atomic.Int32
	var process atomic.Pointer[icmd.Result]
	gone := make(chan struct{})
	ci := s.through(t, s.as("ci"), func(out http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
		n := requests.Add(1)
		if m.write {
			n = 0
			if writes(r) {
				n = records.Add(1)
			}
		}
		if n != m.nth {
			forward(out, r)
			return
		}
		if m.after {
			forward(httptest.NewRecorder(), r)
		}
		_ = process.Load().Cmd.Process.Kill()
		<-gone // nobody may get an answer after the kill
		panic(http.ErrAbortHandler)
	})
	result = icmd.StartCmd(ci.command(t, "gate", "-f", s.dir))
	process.Store(result)
	icmd.WaitOnCmd(time.Minute, result)
	close(gone)
	return requests.Load(), result
}

func TestAGateThatIsKilledLeavesNothingAllowedAndNothingBroken(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	sent, whole := s.killed(t, moment{nth: -1})
	assert.Equal(t, whole.ExitCode, 2, "%s", whole)
	assert.Assert(t, sent > 11)
	moments := []moment{{1, true, false}, {1, true, true}, {2, true, false}, {2, true, true}}
	for i := range int32(11) {
		moments = append(moments, moment{nth: 1 + i*sent/11})
	}
	for _, m := range moments {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			s := shared(t).open(t)
			_, result := s.killed(t, m)
			for !m.write && result.ExitCode == 2 { // it was through before: others were not in its way
				m.nth = m.nth * 3 / 4
				s = shared(t).open(t)
				_, result = s.killed(t, m)
			}
			assert.Assert(t, result.ExitCode != 0 && result.ExitCode != 2, "%s", result)
			assert.Equal(t, result.Stdout(), "")
			for _, entry := range s.audit(t) {
				assert.Equal(t, entry.Verdict, state.VerdictApprovalRequired)
			}
			s.isSound(t)
			s.isOneRequest(t, []answer{s.gate(t, "ci")}, 2)
		})
	}
}

func TestAGateThatIsKilledBeforeItRecordedThePassHasAllowedNothing(t *testing.T) {
	t.Parallel()
	for _, m := range []moment{{1, true, false}, {1, true, true}, {2, true, false}} {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			s := shared(t).open(t)
			s.write(t, "shop.yaml", `{apiVersion: v1, kind: ConfigMap, metadata: {name: banner, namespace: NS}}`)
			_, result := s.killed(t, m)
			assert.Assert(t, result.ExitCode != 0, "%s", result)
			assert.Equal(t, len(s.audit(t)), 0)
			s.isSound(t)
			s.isOneRequest(t, []answer{s.gate(t, "ci")}, 0)
		})
	}
}

// isSound: every record of the cluster can be read and holds.
func (w world) isSound(t *testing.T) {
	t.Helper()
	listed := w.as("alice").run(t, "list").exits(t, 0)
	assert.Equal(t, listed.stderr, "")
	assert.Assert(t, !strings.Contains(listed.stdout, "invalid"), "%s", listed)
}
