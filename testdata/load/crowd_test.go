package load_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

// crowded is the namespace that everyone changes at once.
const crowded = "crowd"

// change is a manifest that turns a ConfigMap of a namespace to a version.
func change(namespace string, version int) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: %s}\ndata: {version: %q}\n", namespace, fmt.Sprint(version))
}

// open makes a namespace with the ConfigMap at version 0.
func (w *world) open(t *testing.T, namespace string) {
	t.Helper()
	_, err := w.Client(kubetest.Admin).CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	w.ForceApply(t, kubetest.Admin, "changeward", change(namespace, 0))
}

// crowd is all gates and approvers at once on one change. A gate that waits
// asks again, until it passes; approvers enroll as they approve.
func (w *world) crowd(t *testing.T) {
	w.open(t, crowded)
	args := []string{"gate", "-f", w.write(t, crowded, change(crowded, 1)), "--scope", crowded, "-o", "json"}
	var ids sync.Map
	var runs, begun atomic.Int64
	asked, once := make(chan string, 1), sync.Once{}
	began := time.Now()
	gate := func() answer {
		runs.Add(1)
		got := w.as("ci").run(t.Context(), args...)
		if id := idOf(got); id != "" {
			ids.Store(id, true)
			once.Do(func() { asked <- id })
		}
		return got
	}
	var everyone, gates sync.WaitGroup
	for range w.gates {
		gates.Go(func() {
			got := gate()
			for ; got.code == 2; got = gate() {
			}
			if got.code != 0 || begun.Load() < int64(w.quorum) {
				t.Errorf("%d people have begun to approve\n%s", begun.Load(), got)
			}
		})
	}
	everyone.Go(func() { gates.Wait(); once.Do(func() { close(asked) }) })
	id := <-asked
	for i := range w.approvers {
		everyone.Go(func() {
			begun.Add(1)
			if got := w.as(person(i)).run(t.Context(), "approve", id, "--yes"); got.code != 0 {
				t.Error(got)
			}
		})
	}
	everyone.Wait()
	crowd := time.Since(began)
	for range w.gates {
		gates.Go(func() {
			if got := gate(); got.code != 0 {
				t.Error(got)
			}
		})
	}
	gates.Wait()
	ids.Delete(id)
	ids.Range(func(other, _ any) bool { t.Errorf("%s is another request than %s", other, id); return true })
	w.counted(t, id)
	fmt.Printf("load: %d gates and %d approvers at once on one change: one request, quorum of %d, %d approvals count, "+
		"%d runs of the gate; all passed after %s, and once more after %s\n", w.gates, w.approvers, w.quorum, w.approvers, runs.Load(),
		crowd.Round(time.Second), time.Since(began).Round(time.Second))
}

// counted: every approval counts, and what let the change pass was written once.
func (w *world) counted(t *testing.T, id string) {
	t.Helper()
	var request render.ChangeRequest
	w.as(person(0)).run(t.Context(), "show", id, "-o", "json").exits(t, 0).json(t, &request)
	people := map[string]bool{}
	for _, d := range request.Decisions {
		assert.Assert(t, d.Counts, "%v", d)
		people[d.Person] = true
	}
	assert.Equal(t, len(people), w.approvers)
	assert.Equal(t, len(request.Decisions), w.approvers)
	assert.Equal(t, w.unbroken(t, state.TypePlan), 1)
	assert.Equal(t, w.unbroken(t, state.TypeAudit), 2, "approval-required, then allowed")
	entries := w.as(person(0)).run(t.Context(), "audit", "log", "-o", "json").exits(t, 0)
	var log render.AuditLog
	entries.json(t, &log)
	assert.Assert(t, slices.ContainsFunc(log.Items, func(e render.AuditEntry) bool {
		return e.Verdict == state.VerdictAllowed && len(e.Decisions) >= w.quorum
	}), "%s", entries)
}

// idOf is the change request that a gate's JSON names; "" where it names none.
func idOf(a answer) string {
	var result render.GateResult
	if json.Unmarshal([]byte(a.stdout), &result) != nil || result.Change == nil {
		return ""
	}
	return result.Change.ID
}
