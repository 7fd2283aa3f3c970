package cli

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/gitops/flux/build"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

// Planned is a plan and what was read on the way to it.
type Planned struct {
	Plan         *plan.Plan
	Observations []plan.Observation
	Before       []byte // see gate.Input
	Origin       Origin
	Inputs       []string // as named

	from     *planning
	removals []plan.Removal
}

// planning is what a plan is made from, before the server is asked.
type planning struct {
	input    InputFlags
	kinds    *dryrun.Kinds
	set      manifest.Set
	problems []manifest.Problem
	masker   manifest.Masker
	owner    *gitops.Owner // nil: nobody's
	applier  dryrun.Applier
	departed []dryrun.Departed
	deletes  *dryrun.DeleteOptions // of what departed, where no owner says
	// reverts makes of live objects what a rollback writes.
	reverts map[manifest.Key]func(live map[string]any) map[string]any
	built   *build.Result // nil: the manifests were read
}

// Plan reads the manifests and asks the server what would happen. Problems of
// single objects are in the plan; an error means that there is none.
func (s *Session) Plan(ctx context.Context, input InputFlags) (*Planned, error) {
	p, err := s.prepare(ctx, input)
	if err != nil {
		return nil, err
	}
	return s.planned(ctx, p, input.inputs())
}

// planned makes the plan of what was prepared; inputs are its sources by name.
func (s *Session) planned(ctx context.Context, p *planning, inputs []string) (*Planned, error) {
	built, in, err := s.observe(ctx, p)
	if err != nil {
		return nil, err
	}
	before, err := plan.Before(built, in.Observations, in.Removals...)
	if err != nil {
		return nil, err
	}
	return &Planned{Plan: built, Observations: in.Observations, Before: before, Origin: p.origin(ctx, s.Streams.Env, inputs[0]), Inputs: inputs,
		from: p, removals: in.Removals}, nil
}

// goneBy lets the gate ask the cluster whether an object is gone.
func (s *Session) goneBy(kinds *dryrun.Kinds) {
	s.Gate.Gone = func(ctx context.Context, b plan.Body) (bool, error) { return s.Client.Gone(ctx, kinds, b) }
}

// origin is where the manifests come from: the artifact that they were built
// from, or what FindOrigin finds for an input.
func (p *planning) origin(ctx context.Context, env func(string) string, input string) Origin {
	revision := p.input.Revision
	if p.built != nil {
		revision = cmp.Or(p.built.Revision, revision)
	}
	return FindOrigin(ctx, env, input, revision)
}

// desired reads or builds the manifests, and finds kinds and owner.
func (s *Session) desired(ctx context.Context, p *planning) (objects []manifest.Object, problems []manifest.Problem, err error) {
	switch {
	case p.input.builds():
		return s.build(ctx, p)
	case p.input.repository.url != "":
		objects, problems, err = s.fromRepository(ctx, p)
	default:
		objects, problems, err = p.input.read(ctx, s.Streams)
	}
	if err == nil {
		objects, problems, err = p.input.taken(objects, problems)
	}
	if err != nil {
		return nil, nil, err
	}
	if p.kinds, err = s.Client.KindsFor(ctx, objects); err != nil {
		return nil, nil, err
	}
	if p.owner == nil {
		p.owner, err = s.owner(ctx, p)
	}
	return objects, problems, err
}

func (s *Session) prepare(ctx context.Context, input InputFlags) (*planning, error) {
	p := &planning{input: input}
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() (err error) { p.masker, err = s.Masker(inner); return })
	objects, problems, err := s.desired(ctx, p)
	if keyed := group.Wait(); err == nil {
		err = keyed
	}
	if err != nil {
		return nil, err
	}
	if p.built != nil {
		p.masker.Hidden = p.built.Hidden
	}
	s.goneBy(p.kinds)
	namespace := s.Namespace
	if p.owner != nil {
		namespace = cmp.Or(p.owner.DefaultNamespace, namespace)
	}
	if err := s.applier(ctx, p); err != nil {
		return nil, err
	}
	set, unresolved := manifest.Resolve(objects, p.kinds, namespace, append(arrivals(input.arriving), problems...)...)
	s.latest = set.Objects
	problems = append(problems, unresolved...)
	p.set, p.problems = set, problems
	if p.owner != nil {
		if p.departed, err = p.owner.Departed(set, p.kinds, problems, input.empty); err != nil {
			return nil, err
		}
		p.set = p.owner.Completed(set)
	}
	return p, nil
}

// arrivals are objects of other plans, in the form in which Resolve takes what
// is not of the set, but comes.
func arrivals(objects []manifest.Object) []manifest.Problem {
	var out []manifest.Problem
	for i := range objects {
		out = append(out, manifest.Problem{Object: &objects[i]})
	}
	return out
}

// observe asks about every object, once, or where random values should show
// twice, and makes the plan of it. It answers what the plan was built from.
func (s *Session) observe(ctx context.Context, p *planning) (*plan.Plan, plan.Input, error) {
	progress := s.Streams.StartProgress("dry run")
	defer progress.Done()
	in := plan.Input{Cluster: s.cluster(), Scope: p.input.scope(), Problems: failed(p.problems)}
	if policyInForce := s.policy(); policyInForce != nil {
		in.IgnorePaths, in.WholeObjects = policyInForce.IgnorePaths, policyInForce.Staleness == policy.StalenessObject
	}
	options := dryrun.ObserveOptions{Kinds: p.kinds, Applier: p.applier, Masker: p.masker, Progress: progress.Report}
	var err error
	if in.Observations, err = s.Client.Observe(ctx, p.set, options); err != nil {
		return nil, in, err
	}
	p.redact(in.Observations)
	if err := s.observeOwners(ctx, p, &in); err != nil {
		return nil, in, err
	}
	built, err := plan.Build(in)
	if err != nil || !p.input.Twice || built.Empty() {
		return built, in, err
	}
	if in.Observations, err = s.Client.Repeat(ctx, p.set, in.Observations, built, options); err != nil {
		return nil, in, err
	}
	p.redact(in.Observations)
	built, err = plan.Build(in)
	return built, in, err
}

// policy in force, nil where nothing is installed.
func (s *Session) policy() *policy.Policy {
	if s.Ledger == nil {
		return nil
	}
	p, _ := s.Ledger.Policy()
	return p
}

// cluster is how the plan names the cluster.
func (s *Session) cluster() plan.Cluster {
	named := plan.Cluster{UID: s.Cluster}
	if p := s.policy(); p != nil {
		named.Name = p.ClusterName
	}
	return named
}

func failed(problems []manifest.Problem) []plan.Failed {
	var out []plan.Failed
	for _, p := range problems {
		message := p.Message
		if p.Path != "" {
			message = p.Path + ": " + message
		}
		out = append(out, plan.Failed{Key: p.Key, Source: p.Source, Failure: plan.Failure{Reason: p.Reason, Message: message}})
	}
	return out
}

// Judge is what policy says of a plan that is put forward so, before any
// approval; nil where there is no policy.
func (s *Session) Judge(ctx context.Context, p *plan.Plan, header state.Plan) (*policy.Judgement, error) {
	if s.Ledger == nil {
		return nil, nil
	}
	input, err := s.Gate.PolicyInput(ctx, s.Ledger, p, header, LaneGitOps)
	if err != nil {
		return nil, err
	}
	inForce, _ := s.Ledger.Policy()
	judgement := inForce.Judge(input)
	return &judgement, nil
}

// View is a plan as this caller reads it. judgement may be nil.
func (s *Session) View(p *plan.Plan, judgement *policy.Judgement, showUnchanged bool) render.PlanView {
	view := render.PlanView{Plan: p, Target: s.Target, ShowUnchanged: showUnchanged}
	if judgement != nil {
		view.Judged = judgement.Changes
	}
	if s.Ledger != nil {
		inForce, _ := s.Ledger.Policy()
		view.Env = inForce.Env
	}
	return view
}

// StoredView is the plan of a change request as it was recorded; nil where the
// record does not hold, which the request itself says.
func (s *Session) StoredView(ctx context.Context, request gate.Request) (*render.PlanView, error) {
	if request.Void != "" {
		return nil, nil
	}
	stored, _, _, err := s.Gate.Stored(ctx, request)
	if err != nil {
		return nil, err
	}
	stored.Scope = request.Header.Scope
	judgement, err := s.Judge(ctx, stored, request.Header)
	if err != nil {
		return nil, err
	}
	view := s.View(stored, judgement, false)
	return &view, nil
}

// Header is how this caller would put a plan forward.
func (s *Session) Header(p *Planned) state.Plan {
	return state.Plan{Proposer: s.Gate.Caller, Scope: p.Plan.Scope, Sources: p.Inputs, Author: s.author(p.Origin.Author),
		Revision: p.Origin.Revision, CI: p.Origin.CI, Target: s.Target, Server: s.Server}
}

// LaneGitOps is the lane of plan and gate: as the owner would apply.
const LaneGitOps = "gitops"

// author is whom the API server names, by a claim of the caller's token, before
// anyone whom the environment claims.
func (s *Session) author(claimed *state.Author) *state.Author {
	if s.Author != "" {
		return &state.Author{Name: s.Author}
	}
	return claimed
}
