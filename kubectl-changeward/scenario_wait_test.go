package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/changeward/changeward/pkg/cli"
)

// screen is output that can be read while it is written.
type screen struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.String()
}

// shows waits until a text is on the screen.
func (s *screen) shows(t *testing.T, text string) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if strings.Contains(s.String(), text) {
			return poll.Success()
		}
		return poll.Continue("no %q in %s", text, s)
	}, poll.WithTimeout(time.Minute), poll.WithDelay(50*time.Millisecond))
}

// running is a command that goes on.
type running struct {
	out, err screen
	code     chan int
	stop     context.CancelFunc
}

// begin starts a command and comes back.
func (p person) begin(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := &running{code: make(chan int, 1), stop: stop}
	t.Cleanup(stop)
	streams := cli.Streams{In: strings.NewReader(""), Out: &r.out, ErrOut: &r.err, Env: p.getenv, Program: "kubectl changeward"}
	go func() {
		r.code <- cli.Run(ctx, newRoot(streams), append(args, "--kubeconfig", p.kubeconfig()), streams)
	}()
	return r
}

func TestAWaitingGatePassesOnceItsPlanIsApproved(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	gate := s.as("ci").begin(t, "gate", "-f", s.dir, "--wait", "-o", "json")
	gate.err.shows(t, "waiting up to 10m0s; approve with `kubectl changeward approve c_")
	id := "c_" + strings.SplitN(strings.SplitN(gate.err.String(), "approve c_", 2)[1], "`", 2)[0]
	assert.Assert(t, strings.Contains(gate.err.String(), `data.feature_new_cart: "false" → "true"`))
	s.as("alice").run(t, "approve", id, "--yes").exits(t, 0)
	assert.Equal(t, <-gate.code, 0, "%s%s", &gate.out, &gate.err)
	var result struct{ Verdict struct{ Decision string } }
	assert.NilError(t, json.Unmarshal([]byte(gate.out.String()), &result))
	assert.Equal(t, result.Verdict.Decision, "allowed")
}

func TestAWaitingGateThatNobodyAnswersEndsAsOneThatDoesNotWait(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.gate(t, "ci", "--wait", "--timeout", "1s").exits(t, 2).tells(t, "nobody decided within 1s", "error: approval required")
}

func TestAWatchedListShowsWhatChanges(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	list := s.as("alice").begin(t, "list", "--watch", "-o", "name")
	id := s.proposed(t).ID
	list.out.shows(t, id)
	list.stop()
	assert.Equal(t, <-list.code, 0, "%s", &list.err)
}

func TestAWatchedListIsOneTable(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	first := s.proposed(t).ID
	list := s.as("alice").begin(t, "list", "--watch")
	list.out.shows(t, first)
	s.as("alice").run(t, "approve", first, "--yes").exits(t, 0)
	list.out.shows(t, first+"   approved")
	list.stop()
	assert.Equal(t, <-list.code, 0, "%s", &list.err)
	assert.Equal(t, strings.Count(list.out.String(), "NUMBER"), 1, list.out.String())
}

func TestTheAnswerIsInTheOutFileToo(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	folder := t.TempDir()
	for name, want := range map[string]string{"plan.md": "### changeward: approval required", "plan.json": `"kind": "GateResult"`, "plan.txt": "policy: approval required"} {
		file := filepath.Join(folder, name)
		s.gate(t, "ci", "--out", file).exits(t, 2)
		content, err := os.ReadFile(file)
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(string(content), want), string(content))
	}
	s.as("ci").run(t, "gate", "-f", filepath.Join(folder, "none"), "--out", filepath.Join(folder, "plan.md")).exits(t, 1)
	content, err := os.ReadFile(filepath.Join(folder, "plan.md"))
	assert.NilError(t, err)
	assert.Assert(t, strings.HasPrefix(string(content), "### changeward: error"), string(content))
}
