package dryrun

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/openapi3"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Observe asks the server about every object of a set, many at once, and
// answers in the set's order, one observation an object. What is wrong with
// one object is its Failure, and touches no other. An error means that nothing
// can be said at all: options that do not fit, or a context that ended, an
// *Error with its reason.
func (c *Client) Observe(ctx context.Context, set manifest.Set, options ObserveOptions) ([]plan.Observation, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	if options.Concurrency <= 0 {
		options.Concurrency = defaultConcurrency
	}
	o := &observer{
		client:  c,
		options: options,
		index:   &schemaIndex{schemas: c.schemas},
		specs:   specs{Root: openapi3.NewRoot(c.discovery.OpenAPIV3())},
	}
	progress := o.progress(len(set.Objects))
	o.arrivals = arrivalsOf(set, o.isHook)
	o.listed = o.lists(ctx, set)
	seen := make([]plan.Observation, len(set.Objects))
	group := errgroup.Group{}
	group.SetLimit(options.Concurrency)
	for i, object := range set.Objects {
		group.Go(func() error {
			return c.pace.do(ctx, func() {
				seen[i] = o.object(ctx, object)
				progress()
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, wrap("observe the objects", err)
	}
	return seen, nil
}

// observer is one call of Observe.
type observer struct {
	client   *Client
	options  ObserveOptions
	index    *schemaIndex
	specs    specs
	arrivals arrivals
	listed   *listed
	services sync.Map // by group and version: why it is read only
}

func (o *observer) progress(total int) func() {
	if o.options.Progress == nil {
		return func() {}
	}
	var mu sync.Mutex
	done := 0
	o.options.Progress(done, total)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		done++
		o.options.Progress(done, total)
	}
}

// object observes one object. The observation holds masked values only.
func (o *observer) object(ctx context.Context, object manifest.Object) plan.Observation {
	object, refusal := o.desired(object)
	shown := object
	shown.Content = o.mask(object.Key(), object.Content)
	treatment, _ := o.options.Applier.Treat(object, nil) // asked again when more is known
	seen := plan.Observation{Object: shown, Applier: treatment.Applier, Notes: slices.Clone(object.Notes),
		NoHooks: !o.options.Applier.Hooks(), Failure: refusal}
	if refusal != nil || o.isHook(object) {
		return seen
	}
	said := &warnings{}
	ctx = withWarnings(ctx, said)
	t, failure := o.target(object)
	switch {
	case object.Name() == "": // manifests may leave it out for hooks, which this applier does not know
		seen.Failure = &plan.Failure{Reason: manifest.ReasonGenerateName, Message: "generateName cannot be applied: apply needs a name, and this applier knows no hooks"}
	case failure != nil:
		seen.Failure = failure
	case t.arrives != "":
		o.arriving(ctx, t, &seen)
	default:
		o.observe(ctx, t, &seen)
	}
	if seen.Applier.Name == Manager {
		seen.Notes = append(seen.Notes, object.StripNotes()...)
	}
	for _, text := range said.sorted() {
		seen.Warnings = append(seen.Warnings, manifest.Redact(text, object.Content))
	}
	return seen
}

// desired is the object as the applier sends it, or why it does not.
func (o *observer) desired(object manifest.Object) (manifest.Object, *plan.Failure) {
	desired, err := o.options.Applier.Desired(object)
	if err != nil {
		return object, &plan.Failure{Reason: plan.ReasonInvalid,
			Message: manifest.Redact("the applier refuses the object: "+err.Error(), object.Content)}
	}
	return desired, nil
}

// isHook says whether the applier takes the object for a hook.
func (o *observer) isHook(object manifest.Object) bool {
	_, _, isHook := manifest.Hook(object)
	return isHook && o.options.Applier.Hooks()
}
