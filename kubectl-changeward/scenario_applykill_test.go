package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
)

// writesObject says that a request changes something other than in a dry run.
func writesObject(r *http.Request) bool {
	return slices.Contains([]string{http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete}, r.Method) &&
		!r.URL.Query().Has("dryRun") && !strings.Contains(r.URL.Path, "selfsubject")
}

// dies applies the bundle in a process that is killed (SIGKILL) at its nth write,
// before the server sees it, or after. It returns how many writes there were.
func (d delivery) dies(t *testing.T, nth int32, after bool) (int32, *icmd.Result) {
	t.Helper()
	var count atomic.Int32
	var process atomic.Pointer[icmd.Result]
	gone := make(chan struct{})
	bob := d.through(t, d.as("bob"), func(out http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
		if !writesObject(r) || count.Add(1) != nth {
			forward(out, r)
			return
		}
		if after {
			forward(httptest.NewRecorder(), r)
		}
		_ = process.Load().Cmd.Process.Kill()
		<-gone
		panic(http.ErrAbortHandler)
	})
	result := icmd.StartCmd(bob.command(t, "apply", "-f", d.dir, "--no-wait"))
	process.Store(result)
	icmd.WaitOnCmd(3*time.Minute, result)
	close(gone)
	return count.Load(), result
}

// isTruth: what the outcomes of a request say has happened.
func (d delivery) isTruth(t *testing.T, change render.ChangeRef) {
	t.Helper()
	request := d.request(t, change.ID)
	client := d.Client(kubetest.Admin).CoreV1().ConfigMaps(d.name)
	written := map[string]string{}
	for _, o := range request.Outcomes {
		for _, r := range o.Objects {
			if r.Kind == "ConfigMap" {
				written[r.Name] = r.UID
			}
		}
		if o.Result == "applied" {
			d.isThere(t)
		}
	}
	for name, uid := range written {
		live, err := client.Get(t.Context(), name, metav1.GetOptions{})
		assert.NilError(t, err)
		assert.Equal(t, string(live.UID), uid)
	}
	_, err := d.Client(kubetest.Admin).CoreV1().Namespaces().Get(t.Context(), d.name, metav1.GetOptions{})
	if err == nil {
		assert.Equal(t, request.Outcomes[0].Result, "started", "nothing is written that was not announced")
	}
}

func TestAnApplyThatIsKilledIsResumedWithoutANewApproval(t *testing.T) {
	t.Parallel()
	w := warehouse(t)
	whole := w.deliver(t, "whole", 6)
	whole.granted(t)
	total, result := whole.dies(t, -1, false)
	assert.Equal(t, result.ExitCode, 0, "%s", result)
	assert.Assert(t, total > 15)
	for i := range 10 {
		nth, after := 1+rand.Int32N(total), i%2 == 0
		t.Run(fmt.Sprintf("at write %d, after %t", nth, after), func(t *testing.T) {
			d := w.deliver(t, fmt.Sprintf("killed%d", i), 6)
			change := d.granted(t)
			_, result := d.dies(t, nth, after)
			assert.Assert(t, result.ExitCode != 0, "%s", result)
			d.isTruth(t, change)
			d.applies(t, "--no-wait").exits(t, 0)
			d.isThere(t)
			d.isTruth(t, change)
			assert.Equal(t, w.request(t, change.ID).Status, "applied")
			w.isSound(t)
		})
	}
}
