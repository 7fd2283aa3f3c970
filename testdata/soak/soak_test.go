// Package soak_test plans approved changes again and again on a busy cluster:
// no approval may be lost for what others write elsewhere, and no drift of a
// field that the plan changes may go unseen.
//
// `make soak` runs it in full; without SOAK=full it is short. Enter at TestSoak.
package soak_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// size of a soak.
type size struct {
	sets            int // of each applier
	replans, drifts int64
	workers         int
	restarts        int64
	rotateEvery     time.Duration
	limit           time.Duration // of the re-plans
}

func sizeOf(name string) size {
	if name == "full" {
		return size{sets: sets, replans: 2000, drifts: 200, workers: 16, restarts: 6, rotateEvery: 25 * time.Second, limit: 25 * time.Minute}
	}
	return size{sets: 1, replans: 40, drifts: 8, workers: 6, restarts: 1, rotateEvery: 3 * time.Second, limit: 10 * time.Minute}
}

// soak is one run.
type soak struct {
	size
	*cluster
	noise  *noise
	scopes chan *scope
	whole  sync.RWMutex // held to write while the server is restarted

	replanned, drifted, found, attributed, lost, interrupted atomic.Int64
}

func TestSoak(t *testing.T) {
	s := &soak{size: sizeOf(os.Getenv("SOAK")), cluster: start(t)}
	s.noise = newNoise(s.cluster)
	s.settle(t)
	s.noise.start(t)
	began := time.Now()
	s.run(t)
	fmt.Printf("soak: %d re-plans of %d manifest sets as %d appliers: %d false invalidations\n"+
		"soak: %d seeded drifts of touched fields: %d found, %d with their cause\n"+
		"soak: %d writes by others, %d restarts of the server (%d re-plans cut off by them), %d tokens, %s\n",
		s.replanned.Load(), min(s.sets*len(appliers(t)), sets), len(appliers(t)), s.lost.Load(), s.drifted.Load(), s.found.Load(), s.attributed.Load(),
		s.noise.writes.Load(), s.restarted.Load()/2, s.interrupted.Load(), s.tokens.Load(), time.Since(began).Round(time.Second))
	assert.Equal(t, s.lost.Load(), int64(0))
	assert.Equal(t, s.found.Load(), s.drifted.Load())
	assert.Assert(t, s.replanned.Load() >= s.replans && s.drifted.Load() >= s.drifts, "the time did not suffice")
}

// settle makes all scopes: their first version live, their second approved.
func (s *soak) settle(t *testing.T) {
	t.Helper()
	var all []*scope
	for i, a := range appliers(t) {
		for set := range s.sets {
			if s.sets < sets {
				set += i // a few sets: each applier has others
			}
			all = append(all, &scope{applier: a, set: set, namespace: s.Namespace(t), office: newOffice(t, s.uid)})
		}
	}
	s.mutate(t, all)
	client, err := dryrun.New(s.rotating)
	assert.NilError(t, err)
	var group errgroup.Group
	group.SetLimit(s.workers)
	s.scopes = make(chan *scope, len(all))
	for _, one := range all {
		group.Go(func() error {
			defer func() { s.scopes <- one }()
			if err := one.settle(t, s.cluster, client); err != nil {
				return fmt.Errorf("%s: %w", one, err)
			}
			return nil
		})
	}
	assert.NilError(t, group.Wait())
}

// run plans all scopes in turn, until there was enough of it or the time is up.
func (s *soak) run(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), s.limit)
	defer cancel()
	var others sync.WaitGroup
	others.Go(func() { s.every(ctx, s.rotateEvery, func() { _ = s.rotate(ctx) }) })
	var workers sync.WaitGroup
	for range s.workers {
		workers.Go(func() { s.work(ctx, t) })
	}
	workers.Wait()
	cancel()
	others.Wait()
}

func (s *soak) every(ctx context.Context, pause time.Duration, do func()) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

func (s *soak) enough() bool { return s.replanned.Load() >= s.replans && s.drifted.Load() >= s.drifts }

// work is one planner: a gate that runs, then another, with a connection of
// its own that is made anew now and then.
func (s *soak) work(ctx context.Context, t *testing.T) {
	var client *dryrun.Client
	for i := 0; ctx.Err() == nil && !s.enough(); i++ {
		if client == nil || i%25 == 0 {
			fresh, err := dryrun.New(s.rotating)
			if err != nil {
				s.check(ctx, t, s.cluster.restarted.Load(), err, "connect")
				continue
			}
			client = fresh
		}
		one := <-s.scopes
		quiet := s.noise.watch(one)
		if due := s.replanned.Load() * s.drifts / s.replans; s.drifted.Load() < min(due+1, s.drifts) {
			s.drift(ctx, t, client, one)
		}
		s.replan(ctx, t, client, one)
		quiet()
		s.scopes <- one
	}
}

// replan must find the approval as it was.
func (s *soak) replan(ctx context.Context, t *testing.T, client *dryrun.Client, one *scope) {
	result, err := s.gate(ctx, t, client, one)
	if err != nil {
		return
	}
	if n := s.replanned.Add(1); n%(s.replans/(s.size.restarts+1)) == 0 && n < s.replans {
		s.whole.Lock()
		defer s.whole.Unlock()
		defer s.restart(t) // while the others go on
	}
	if result.Verdict.Decision != state.VerdictAllowed || result.Request == nil || result.Request.ID != one.request {
		s.lost.Add(1)
		t.Errorf("%s: %s %v\n%v\napproved:\n%s\nnow:\n%s", one, result.Verdict.Decision, result.Verdict.Reasons, result.Stale,
			plan.Text(one.plan), plan.Text(result.Plan))
	}
}

// drift changes a field, which the gate must see, and puts it back.
func (s *soak) drift(ctx context.Context, t *testing.T, client *dryrun.Client, one *scope) {
	d := one.choose()
	since := s.restarted.Load()
	if err := d.seed(ctx, s.noise); err != nil {
		s.check(ctx, t, since, err, d.String())
		s.undo(ctx, t, one)
		return
	}
	if result, err := s.gate(ctx, t, client, one); err == nil {
		s.drifted.Add(1)
		found, attributed := d.found(result)
		if found {
			s.found.Add(1)
		} else {
			t.Errorf("%s: not found: %s", one, d)
		}
		if attributed {
			s.attributed.Add(1)
		}
	}
	s.undo(ctx, t, one)
}

// undo applies the first version once more; the server must be there for it.
func (s *soak) undo(ctx context.Context, t *testing.T, one *scope) {
	s.whole.RLock()
	defer s.whole.RUnlock()
	if ctx.Err() == nil {
		one.applier.apply(t, s.Cluster, manifests(one.set, one.namespace, 1))
	}
}

// gate runs once. An error is reported already, unless a restart of the server
// came in its way.
func (s *soak) gate(ctx context.Context, t *testing.T, client *dryrun.Client, one *scope) (*gate.Result, error) {
	since := s.restarted.Load()
	result, err := one.replan(ctx, client, s.uid)
	if err == nil && result.Verdict.Decision == state.VerdictError && !conflicting(result) {
		err = fmt.Errorf("%v\n%s", result.Verdict.Reasons, plan.Text(result.Plan))
	}
	if err != nil {
		s.check(ctx, t, since, err, one.String())
		return nil, err
	}
	return result, nil
}

// conflicting says that a plan is incomplete for what it found, not for an
// answer that it did not get.
func conflicting(r *gate.Result) bool {
	for _, f := range r.Plan.Failed {
		if f.Reason != plan.ReasonConflict {
			return false
		}
	}
	return true
}

// check takes an error for what it is worth: during a restart, nothing.
func (s *soak) check(ctx context.Context, t *testing.T, since int64, err error, what string) {
	switch {
	case ctx.Err() != nil:
	case s.disturbed(since):
		s.interrupted.Add(1)
	default:
		s.lost.Add(1)
		t.Errorf("%s: %v", what, err)
	}
}
