package cli

import (
	"context"
	"slices"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

// Verify compares live objects with what a request was approved to make of
// them. It only looks; Mark records what it found.
func (s *Session) Verify(ctx context.Context, request gate.Request) (*render.Verified, error) {
	if request.Void != "" {
		return nil, &gate.Fault{Reason: request.Void, Message: request.Detail}
	}
	stored, _, _, err := s.Gate.Stored(ctx, request)
	if err != nil {
		return nil, err
	}
	out := &render.Verified{Request: &request}
	if out.Objects, err = s.Compare(ctx, stored); err != nil {
		return nil, err
	}
	out.Result = resultOf(request, out.Objects)
	return out, nil
}

// Compare reads each object that a plan changes, and says how it differs from
// what the plan would have made of it. Objects that cannot be read are an error:
// nothing can be said then.
func (s *Session) Compare(ctx context.Context, p *plan.Plan) ([]render.Compared, error) {
	l, err := s.looker(ctx)
	if err != nil {
		return nil, err
	}
	changes := slices.DeleteFunc(slices.Clone(p.Changes), func(c plan.Change) bool { return c.Body.Operation == plan.Hook })
	bodies := make([]plan.Body, len(changes))
	for i, c := range changes {
		bodies[i] = c.Body
	}
	looks, err := l.at(ctx, bodies)
	if err != nil {
		return nil, err
	}
	out := make([]render.Compared, len(changes))
	for i, c := range changes {
		failure := looks[i].failure
		if failure != nil && !(c.Body.Operation == plan.Delete && failure.Reason == plan.ReasonUnknownKind) {
			return nil, unread(c.Body.Key(), failure)
		}
		out[i] = render.Compared{Change: c, Differences: plan.Differences(c.Body, looks[i].Sight)}
	}
	return out, nil
}

// resultOf sums up a comparison. Where nothing was applied yet, and all is as
// it was, it is none: "".
func resultOf(request gate.Request, objects []render.Compared) string {
	differs, foreign := false, false
	for _, o := range objects {
		for _, d := range o.Differences {
			differs = true
			foreign = foreign || !d.Before
		}
	}
	finished := slices.Contains([]gate.Status{gate.Applied, gate.Diverged}, request.Status)
	switch {
	case !differs:
		return state.ResultApplied
	case finished || foreign && !request.Begun():
		return state.ResultDiverged
	}
	return ""
}

// Mark records what Verify found, where that is news.
func (s *Session) Mark(ctx context.Context, v *render.Verified) error {
	if v.Result == "" || string(v.Request.Status) == v.Result {
		return nil
	}
	outcome := state.Outcome{Result: v.Result, Observed: true}
	for _, o := range v.Objects {
		if len(o.Differences) > 0 && len(outcome.Objects) < state.MaxObjects {
			outcome.Objects = append(outcome.Objects, o.Result())
		}
	}
	if err := s.Gate.Outcome(ctx, v.Request, outcome); err != nil {
		return err
	}
	v.Request.Status = gate.Status(v.Result)
	return nil
}
