package cli

import (
	"context"
	"slices"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// WayBack is the way back from what a request changed.
func (s *Session) WayBack(ctx context.Context, request gate.Request) (plan.Back, error) {
	if request.Void != "" {
		return plan.Back{}, &gate.Fault{Reason: request.Void, Message: request.Detail}
	}
	stored, _, before, err := s.Gate.Stored(ctx, request)
	if err != nil {
		return plan.Back{}, err
	}
	return plan.WayBack(stored, before)
}

// PlanBack plans the way back from a request, in its scope.
func (s *Session) PlanBack(ctx context.Context, request gate.Request, back plan.Back) (*Planned, error) {
	p := &planning{input: InputFlags{Twice: true, direct: true, scopeName: request.Header.Scope}}
	var err error
	if p.kinds, err = s.Client.Kinds(ctx); err != nil {
		return nil, err
	}
	s.goneBy(p.kinds)
	if p.masker, err = s.Masker(ctx); err != nil {
		return nil, err
	}
	source := manifest.Source{File: request.ID}
	p.reverts = map[manifest.Key]func(map[string]any) map[string]any{}
	for _, body := range back.Restore {
		p.reverts[body.Key()] = func(live map[string]any) map[string]any { return back.Reverted(body, live) }
		p.set.Objects = append(p.set.Objects, manifest.Object{Source: source, Content: bareObject(body)})
	}
	for _, prior := range back.Recreate {
		content, _ := prior.Object.(map[string]any)
		p.set.Objects = append(p.set.Objects, manifest.Object{Source: source, Content: content})
	}
	for _, body := range back.Remove {
		p.departed = append(p.departed, dryrun.Departed{Key: body.Key(), Version: body.Version, Source: source})
	}
	p.applier = dryrun.Restoring(func(key manifest.Key) func(map[string]any) map[string]any { return p.reverts[key] })
	applier := plan.Applier{Name: dryrun.Manager, Mode: plan.ModeServerSide, Manager: dryrun.Manager}
	p.deletes = &dryrun.DeleteOptions{Kinds: p.kinds, Masker: p.masker, Applier: applier, Propagation: "background", Judge: created(request)}
	return s.planned(ctx, p, []string{"rollback of " + request.ID})
}

// created keeps what stands where the request created something, and is another
// object by now.
func created(request gate.Request) func(live map[string]any) dryrun.Fate {
	made := map[manifest.Key]string{}
	for _, o := range request.Outcomes {
		for _, r := range o.Objects {
			if r.Operation == string(plan.Create) && r.Result == state.ObjectWritten {
				made[manifest.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}] = r.UID
			}
		}
	}
	return func(live map[string]any) dryrun.Fate {
		uid, known := made[(manifest.Object{Content: live}).Key()]
		if known && uid != text(live, "uid") {
			return dryrun.Fate{Keep: "it is not the object that " + request.ID + " created"}
		}
		return dryrun.Fate{}
	}
}

func bareObject(b plan.Body) map[string]any {
	version := b.Version
	if b.Group != "" {
		version = b.Group + "/" + b.Version
	}
	metadata := map[string]any{"name": b.Name}
	if b.Namespace != "" {
		metadata["namespace"] = b.Namespace
	}
	return map[string]any{"apiVersion": version, "kind": b.Kind, "metadata": metadata}
}

// Touched says that a request has, or may have, changed something.
func Touched(r gate.Request) bool {
	return len(r.Outcomes) > 0 || slices.Contains([]gate.Status{gate.Applied, gate.Diverged}, r.Status)
}
