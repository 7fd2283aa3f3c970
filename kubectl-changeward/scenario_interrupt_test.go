package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/render"
)

// interrupted is a command that got SIGINT in the midst of many dry runs.
type interrupted struct {
	result *icmd.Result
	took   time.Duration // from the signal to the end
	writes int32         // of records
}

// interrupt runs a command over hundreds of objects, of which the server holds
// back the later ones, and interrupts it then.
func (s shop) interrupt(t *testing.T, args ...string) interrupted {
	t.Helper()
	var objects strings.Builder
	for i := range 300 {
		fmt.Fprintf(&objects, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: many-%03d, namespace: NS}\n", i)
	}
	s.write(t, "many.yaml", objects.String())
	var dryRuns, records atomic.Int32
	held, over := make(chan struct{}), make(chan struct{})
	ci := s.through(t, s.as("ci"), func(out http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
		if writes(r) {
			records.Add(1)
		}
		if r.Method == http.MethodPatch {
			switch n := dryRuns.Add(1); {
			case n == 150:
				close(held)
				fallthrough
			case n > 150:
				<-over
				panic(http.ErrAbortHandler)
			}
		}
		forward(out, r)
	})
	process := icmd.StartCmd(ci.command(t, args...))
	<-held
	begun := time.Now()
	assert.NilError(t, process.Cmd.Process.Signal(syscall.SIGINT))
	result := icmd.WaitOnCmd(time.Minute, process)
	took := time.Since(begun)
	close(over)
	return interrupted{result: result, took: took, writes: records.Load()}
}

func TestAnInterruptEndsAPlanOfHundredsOfObjectsAtOnceAndRecordsNothing(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"plan", "gate"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			s := shared(t).open(t)
			folder := t.TempDir()
			file := filepath.Join(folder, "plan.json")
			assert.NilError(t, os.WriteFile(file, []byte("of an earlier run"), 0o600))
			got := s.interrupt(t, verb, "-f", s.dir, "-o", "json", "--out", file)
			assert.Assert(t, got.took < time.Second, "%s", got.took)
			assert.Equal(t, got.result.ExitCode, 1, "%s", got.result)
			assert.Equal(t, got.writes, int32(0))
			assert.Equal(t, len(s.records(t)), 0)
			content, err := os.ReadFile(file)
			assert.NilError(t, err)
			for _, text := range []string{got.result.Stdout(), string(content)} {
				var document render.Error
				answer{stdout: text}.json(t, &document)
				assert.Equal(t, document.Reason, cli.ReasonCancelled)
			}
			left, err := os.ReadDir(folder)
			assert.NilError(t, err)
			assert.Equal(t, len(left), 1, "%v", left)
		})
	}
}

// endless is standard input of a terminal at which nobody types.
type endless struct{ reading, over chan struct{} }

func (e endless) Read([]byte) (int, error) {
	close(e.reading)
	<-e.over
	return 0, io.EOF
}

func TestAnInterruptEndsTheWaitForManifests(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	in := endless{make(chan struct{}), make(chan struct{})}
	defer close(in.over)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-in.reading
		cancel()
	}()
	s.as("ci").start(ctx, in, []string{"plan", "-f", "-"}).exits(t, 1).tells(t, "interrupted")
}
