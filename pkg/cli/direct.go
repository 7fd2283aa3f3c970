package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/apply"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

// Direct is how to carry out a plan past any owner.
type Direct struct {
	// Plan makes the plan. It is called again where the server can check more
	// once a part is written.
	Plan func(ctx context.Context) (*Planned, error)
	// Header is how the plan is put forward.
	Header func(planned *Planned) state.Plan
	Only   string // id of the one request that may let it pass; "" is any
	Again  bool   // see gate.Input
	Keys   KeyFlags
	NoWait bool
	// Timeout of rollouts; 0 is the target's own.
	Timeout time.Duration
}

// RunDirect plans, asks the gate, and, if this very plan is allowed, writes it
// and waits for what it rolls out. The result tells how far it came, also beside
// an error; without a gate's answer it is nil.
func (s *Session) RunDirect(ctx context.Context, d Direct) (*render.Applied, error) {
	epoch := s.Ledger.Epoch()
	if install.IsGate(s.Gate.Caller, epoch.GateUsers, epoch.GateGroups) {
		return nil, Fail(ReasonForbidden, fmt.Errorf("%s is a gate's identity, which may change nothing", s.Gate.Caller.Username),
			"apply with the kubeconfig of someone who may write these objects")
	}
	writer, err := apply.New(s.Config)
	if err != nil {
		return nil, err
	}
	out := &render.Applied{}
	for all := false; ; {
		planned, err := s.allow(ctx, d, out)
		if err != nil || planned == nil {
			return out.OrNil(), err
		}
		results, rest, err := s.carry(ctx, writer, planned, out.Gate, all)
		out.Add(results)
		if err != nil {
			out.Result = state.ResultStopped
			return out, err
		}
		if len(rest) == 0 {
			return out, s.await(ctx, writer, planned, d, out)
		}
		all = len(results) == 0 // planning again would tell nothing new
	}
}

// allow plans and asks the gate. The plan is nil where it may not be carried
// out.
func (s *Session) allow(ctx context.Context, d Direct, out *render.Applied) (*Planned, error) {
	planned, err := d.Plan(ctx)
	if err != nil {
		return nil, err
	}
	refusals, err := s.GateRefusals(ctx)
	if err != nil {
		return nil, err
	}
	if s.Gate.Signer, err = s.GateSigner(ctx, d.Keys); err != nil {
		return nil, err
	}
	result, err := s.Gate.Run(ctx, s.Ledger, gate.Input{Plan: planned.Plan, Observations: planned.Observations, Before: planned.Before,
		Header: d.Header(planned), Lane: LaneDirect, Refusals: refusals, Again: d.Again, Only: d.Only})
	if err != nil {
		return nil, err
	}
	out.Gate, out.View = result, s.View(planned.Plan, &result.Judgement, false)
	passes := result.Verdict.Decision == state.VerdictAllowed || !result.Enforced && result.Verdict.Decision != state.VerdictError
	if !passes || !planned.Plan.Complete() {
		return nil, nil
	}
	return planned, nil
}

// LaneDirect is the lane of what changeward applies itself.
const LaneDirect = "direct"

// carry writes what is allowed.
func (s *Session) carry(ctx context.Context, writer *apply.Client, planned *Planned, result *gate.Result, all bool) ([]state.ObjectResult, []apply.Task, error) {
	tasks := planned.tasks()
	if len(tasks) == 0 || result.Request == nil {
		return nil, nil, nil
	}
	run := apply.Run{Client: writer, Kinds: planned.from.kinds,
		Again: func(ctx context.Context, t apply.Task) (apply.Task, error) { return s.again(ctx, planned, t) },
		Record: func(ctx context.Context, o state.Outcome) error {
			return s.Gate.Outcome(ctx, result.Request, o)
		},
		Told: func(r state.ObjectResult, failure *plan.Failure) {
			s.Streams.Story(s.Streams.ErrStyle().ObjectResult(r, failure))
		},
	}
	hash := ""
	if result.Resumed {
		hash = planned.Plan.Hash
	}
	return run.Do(ctx, tasks, hash, all)
}

// tasks are the changes of a plan, with what is needed to carry them out. Hooks
// are not: a direct apply runs none.
func (p *Planned) tasks() []apply.Task {
	var tasks []apply.Task
	for _, c := range p.Plan.Changes {
		if c.Body.Operation == plan.Hook {
			continue
		}
		t := apply.Task{Change: c, Content: p.from.reverts[c.Body.Key()]}
		for _, object := range p.from.set.Objects {
			if object.Key() == c.Body.Key() {
				t.Object = object
			}
		}
		live := p.live(c)
		t.UID, t.ResourceVersion = text(live, "uid"), text(live, "resourceVersion")
		tasks = append(tasks, t)
	}
	return tasks
}

// live is the object that a change was planned on, masked; nil where there is
// none.
func (p *Planned) live(c plan.Change) map[string]any {
	if c.Body.Operation == plan.Delete {
		i := slices.IndexFunc(p.removals, func(r plan.Removal) bool { return r.Key == c.Body.Key() })
		return p.removals[i].Live
	}
	for _, o := range p.Observations {
		if o.Object.Key() == c.Body.Key() {
			return o.Live
		}
	}
	return nil
}

func text(object map[string]any, key string) string {
	metadata, _ := object["metadata"].(map[string]any)
	value, _ := metadata[key].(string)
	return value
}

// again plans the object of one task once more.
func (s *Session) again(ctx context.Context, planned *Planned, t apply.Task) (apply.Task, error) {
	key, one := t.Change.Body.Key(), *planned.from
	one.problems = nil
	one.set.Objects, one.set.Refused, one.departed = nil, nil, nil
	for _, object := range planned.from.set.Objects {
		if object.Key() == key {
			one.set.Objects = append(one.set.Objects, object)
		}
	}
	for _, d := range planned.from.departed {
		if d.Key == key {
			one.departed = append(one.departed, d)
		}
	}
	built, in, err := s.observe(ctx, &one)
	if err != nil {
		return t, err
	}
	if len(built.Failed) > 0 {
		return t, &apply.Stopped{Key: key, Failure: built.Failed[0].Failure}
	}
	now := Planned{Plan: built, Observations: in.Observations, removals: in.Removals, from: &one}
	if tasks := now.tasks(); len(tasks) == 1 {
		return tasks[0], nil
	}
	done := apply.Task{Change: plan.Change{Body: t.Change.Body}, UID: t.UID}
	done.Change.Body.Operation = plan.None
	return done, nil
}

// await waits for what the request rolls out, or, where nothing is left to
// write, for all workloads of the manifests.
func (s *Session) await(ctx context.Context, writer *apply.Client, planned *Planned, d Direct, out *render.Applied) error {
	out.Result = state.ResultApplied
	changes := planned.Plan.Unchanged
	if request := out.Gate.Request; request != nil {
		stored, _, _, err := s.Gate.Stored(ctx, *request)
		if err != nil {
			return err
		}
		changes = stored.Changes
	}
	if d.NoWait {
		return nil
	}
	timeout := d.Timeout
	if timeout == 0 {
		timeout = s.Rollout
	}
	var err error
	out.Rollouts, err = writer.Wait(ctx, planned.from.kinds, apply.Rollouts(changes), timeout, func(r apply.Rollout) {
		s.Streams.Story(s.Streams.ErrStyle().Rollout(r))
	})
	if err != nil {
		return fmt.Errorf("all is written, but whether it runs is not known: %w", err)
	}
	return s.unready(ctx, out)
}

// unready records that not all came to run.
func (s *Session) unready(ctx context.Context, out *render.Applied) error {
	var objects []state.ObjectResult
	var problems []error
	for _, r := range out.Rollouts {
		if !r.Ready() {
			objects = append(objects, state.ObjectResult{Group: r.Key.Group, Version: r.Version, Kind: r.Key.Kind, Namespace: r.Key.Namespace,
				Name: r.Key.Name, Result: state.ObjectUnready, Reason: r.State})
			problems = append(problems, fmt.Errorf("%s is written, and does not run: %s", r.Key, r.Message))
		}
	}
	if len(objects) == 0 {
		return nil
	}
	out.Result = state.ResultUnready
	if out.Gate.Request != nil {
		for part := range slices.Chunk(objects, state.MaxObjects) {
			if err := s.Gate.Outcome(ctx, out.Gate.Request, state.Outcome{Result: state.ResultUnready, Objects: part}); err != nil {
				problems = append(problems, err)
			}
		}
	}
	return errors.Join(problems...)
}
