// Package load_test runs many gates and approvers at once, as processes and as
// real users: on one change, and while the API server is killed again and again.
// No verdict may be wrong, no approval lost, no record broken.
//
// `make load` runs it in full; without LOAD=full it is short. Enter at TestLoad.
package load_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

// size of a run.
type size struct {
	gates, approvers, quorum int // on one change
	lanes, restarts          int
	answers                  int // of commands between two restarts
	limit                    time.Duration
}

func sizeOf(name string) size {
	if name == "full" {
		return size{gates: 50, approvers: 20, quorum: 15, lanes: 6, restarts: 20, answers: 12, limit: 25 * time.Minute}
	}
	return size{gates: 10, approvers: 5, quorum: 4, lanes: 3, restarts: 2, answers: 6, limit: 15 * time.Minute}
}

func TestLoad(t *testing.T) {
	w := start(t, sizeOf(os.Getenv("LOAD")))
	w.crowd(t)
	asked := w.restart(t)
	w.isSound(t, 1+asked)
}

// isSound: every record can be read and holds, there is one request for each
// change that was asked for, and no number was left out.
func (w *world) isSound(t *testing.T, requests int) {
	t.Helper()
	var v render.AuditVerification
	w.as("person-1").run(t.Context(), "audit", "verify", "-o", "json").exits(t, 0).json(t, &v)
	listed := w.as("person-1").run(t.Context(), "list").exits(t, 0)
	assert.Equal(t, listed.stderr, "")
	assert.Assert(t, !strings.Contains(listed.stdout, "invalid"), listed.stdout)
	assert.Equal(t, w.unbroken(t, state.TypePlan), requests)
	entries := w.unbroken(t, state.TypeAudit)
	fmt.Printf("load: audit verify finds nothing in %d requests, %d entries, %d decisions; %d notes; no number was left out\n",
		requests, entries, v.Decisions, len(v.Notes))
}

// unbroken is how many records of a type there are, numbered from one.
func (w *world) unbroken(t *testing.T, kind state.Type) int {
	t.Helper()
	list, err := w.Client(kubetest.Admin).CoreV1().Secrets(install.Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: state.LabelType + "=" + string(kind)})
	assert.NilError(t, err)
	for i, secret := range list.Items { // by name
		assert.Equal(t, secret.Name, state.NumberedName(kind, i+1))
	}
	return len(list.Items)
}
