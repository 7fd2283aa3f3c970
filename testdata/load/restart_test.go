package load_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/changeward/changeward/pkg/kubetest"
)

// outage is gates and approvers at work in several scopes, while the API server
// is killed and started again.
type outage struct {
	*world
	answered                           chan struct{} // a command has ended
	over                               atomic.Bool   // no more restarts: lanes finish what they began
	last                               atomic.Value  // answer that was cut off last
	gates, decisions, cut, wrong, asks atomic.Int64
}

// restart answers how many changes were asked for.
func (w *world) restart(t *testing.T) int {
	o := &outage{world: w, answered: make(chan struct{}, 1000)}
	ctx, cancel := context.WithTimeout(t.Context(), w.limit)
	defer cancel()
	began := time.Now()
	var lanes sync.WaitGroup
	for i := range w.lanes {
		namespace := fmt.Sprintf("lane-%d", i+1)
		w.open(t, namespace)
		lanes.Go(func() {
			l := lane{outage: o, namespace: namespace, people: [2]someone{w.as(person(i % w.approvers)), w.as(person((i + 1) % w.approvers))}}
			for version := 1; !o.over.Load() && ctx.Err() == nil; version++ {
				l.roll(ctx, t, version)
			}
		})
	}
	restarts := 0
	for ; restarts < w.restarts && ctx.Err() == nil; restarts++ {
		for n := 0; n < w.answers+restarts%w.lanes && ctx.Err() == nil; n++ {
			select {
			case <-o.answered:
			case <-ctx.Done():
			}
		}
		w.Restart(t)
	}
	o.over.Store(true)
	lanes.Wait()
	fmt.Printf("load: %d times the API server was killed and started again: %d runs of the gate, %d decisions, %d commands cut off, %d wrong verdicts, %d changes, %s\n",
		restarts, o.gates.Load(), o.decisions.Load(), o.cut.Load(), o.wrong.Load(), o.asks.Load(), time.Since(began).Round(time.Second))
	assert.NilError(t, ctx.Err(), "the time did not suffice; the last that was cut off: %v", o.last.Load())
	assert.Equal(t, o.wrong.Load(), int64(0))
	assert.Assert(t, o.cut.Load() > 0, "no command met a server that was down")
	return int(o.asks.Load())
}

// lane is one application, and who approves its changes.
type lane struct {
	*outage
	namespace string
	people    [2]someone
	file, id  string
}

// roll takes the application to the next version. Every third is rejected.
func (l *lane) roll(ctx context.Context, t *testing.T, version int) {
	l.file = l.write(t, l.namespace, change(l.namespace, version))
	l.asks.Add(1)
	l.gate(ctx, t, 2)
	l.decide(ctx, t, l.people[0], "approve")
	l.gate(ctx, t, 2) // two people have to
	if version%3 == 0 {
		l.decide(ctx, t, l.people[1], "reject", "--reason", "not today")
		l.gate(ctx, t, 4)
		return
	}
	l.decide(ctx, t, l.people[1], "approve")
	l.gate(ctx, t, 0)
	l.apply(ctx, version)
	l.gate(ctx, t, 0) // takes down that it was applied
}

// gate runs until it gives a verdict, which must be this one.
func (l *lane) gate(ctx context.Context, t *testing.T, code int) {
	for ctx.Err() == nil {
		got := l.as("ci").run(ctx, "gate", "-f", l.file, "--scope", l.namespace, "-o", "json")
		l.gates.Add(1)
		switch {
		case l.without(ctx, got):
			continue
		case got.code != code:
			l.wrong.Add(1)
			t.Errorf("%s: want exit %d\n%s", l.namespace, code, got)
		}
		if id := idOf(got); id != "" {
			l.id = id
		}
		return
	}
}

// decide runs until the person's word is stored.
func (l *lane) decide(ctx context.Context, t *testing.T, who someone, verb string, more ...string) {
	for ctx.Err() == nil {
		got := who.run(ctx, append([]string{verb, l.id, "--yes"}, more...)...)
		l.decisions.Add(1)
		if !l.without(ctx, got) {
			if got.code != 0 {
				l.wrong.Add(1)
				t.Error(got)
			}
			return
		}
	}
}

// without says that a command ended without an answer, as it may while the
// server is down.
func (l *lane) without(ctx context.Context, got answer) bool {
	select {
	case l.answered <- struct{}{}:
	default:
	}
	if ctx.Err() == nil && got.code == 1 {
		l.cut.Add(1)
		l.last.Store(got)
		return true
	}
	return ctx.Err() != nil
}

// apply makes the application so, as its deployment would.
func (l *lane) apply(ctx context.Context, version int) {
	maps, options := l.Client(kubetest.Admin).CoreV1().ConfigMaps(l.namespace), metav1.PatchOptions{FieldManager: "changeward", Force: new(true)}
	for ctx.Err() == nil {
		if _, err := maps.Patch(ctx, "config", types.ApplyYAMLPatchType, []byte(change(l.namespace, version)), options); err == nil {
			return
		}
	}
}
