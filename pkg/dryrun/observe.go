package dryrun

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

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
		client:   c,
		options:  options,
		index:    &schemaIndex{schemas: c.schemas},
		arrivals: arrivalsOf(set),
	}
	o.listed = o.list(ctx, set)
	seen := make([]plan.Observation, len(set.Objects))
	progress := o.progress(len(set.Objects))
	group := errgroup.Group{}
	group.SetLimit(options.Concurrency)
	for i, object := range set.Objects {
		group.Go(func() error {
			if ctx.Err() == nil {
				seen[i] = o.object(ctx, object)
				progress()
			}
			return ctx.Err()
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
	return func() {
		mu.Lock()
		defer mu.Unlock()
		done++
		o.options.Progress(done, total)
	}
}

// object observes one object. The observation holds masked values only.
func (o *observer) object(ctx context.Context, object manifest.Object) plan.Observation {
	shown := object
	shown.Content = o.mask(object.Content)
	seen := plan.Observation{Object: shown, Applier: o.options.Applier, Notes: slices.Clone(object.Notes)}
	if _, _, isHook := manifest.Hook(object); isHook {
		return seen
	}
	said := &warnings{}
	ctx = withWarnings(ctx, said)
	t, failure := o.target(object)
	switch {
	case failure != nil:
		seen.Failure = failure
	case t.arrives != "":
		seen.Unverified, seen.Merged = t.arrives, shown.Content
	default:
		o.observe(ctx, t, &seen)
	}
	for _, text := range said.sorted() {
		seen.Warnings = append(seen.Warnings, manifest.Redact(text, object.Content))
	}
	return seen
}
